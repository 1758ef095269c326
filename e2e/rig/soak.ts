/** Whether long repetitions are wanted, as `./build.sh soak` wants them. */
export const soak = process.env.PORTOLAN_SOAK !== undefined

/** Options of a test that only the soak runs. */
export const onlyInSoak = soak ? {} : { skip: 'a long repetition: ./build.sh soak' }
