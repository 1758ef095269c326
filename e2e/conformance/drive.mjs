// The work of the client under test in each scenario: in Node (driver.mjs) and in a
// page (browser.mjs). The scenarios are those of driver/main.go.

/** The answer of this client's user when a scenario's tool asks. */
const answers = {
  'elicitation-sep1034-client-defaults': { action: 'accept', content: {} },
  'sep-2322-client-request-state': { action: 'accept', content: { confirmed: true } },
}

/** The tools that a scenario wants called, with their arguments. */
const calls = {
  tools_call: [['add_numbers', { a: 5, b: 3 }]],
  'elicitation-sep1034-client-defaults': [['test_client_elicitation_defaults', {}]],
  'sse-retry': [['test_reconnection', {}]],
  'sep-2322-client-request-state': [['test_mrtr_echo_state', {}], ['test_mrtr_no_state', {}], [
    'test_mrtr_unrelated',
    {},
  ], ['test_mrtr_no_result_type', {}]],
}

function wanted(scenario, context, tools) {
  switch (scenario) {
    case 'http-custom-headers':
      return JSON.parse(context).toolCalls.map((c) => [c.name, c.arguments])
    case 'http-standard-headers':
    case 'http-invalid-tool-headers':
      return tools.map((t) => [t.tool, { region: 'us-west1' }])
    case 'json-schema-2020-12-preservation':
      return [['json_schema_echo', {
        schema: tools.find((t) => t.tool === 'json_schema_2020_12_tool').definition.inputSchema,
      }]]
  }
  if (scenario.startsWith('auth/')) return [['test-tool', {}]]
  return calls[scenario] ?? []
}

const flows = {
  'auth/client-credentials-jwt': 'client-credentials',
  'auth/client-credentials-basic': 'client-credentials',
  'auth/wif-jwt-bearer': 'jwt-bearer',
  'auth/enterprise-managed-authorization': 'enterprise-managed',
  'auth/cross-app-access-complete-flow': 'enterprise-managed',
}

/** The suite's registrations for a scenario. */
function identity(scenario, context) {
  if (!context || !scenario.startsWith('auth/')) return undefined
  const c = JSON.parse(context)
  const auth = {
    flow: flows[scenario],
    clientId: c.client_id,
    clientSecret: c.client_secret,
    privateKey: c.private_key_pem,
    signingAlgorithm: c.signing_algorithm,
    issuer: c.issuer,
    assertion: c.valid_jwt,
    idToken: c.idp_id_token,
    idpTokenUrl: c.idp_token_endpoint,
    idpClientId: c.idp_client_id,
  }
  return Object.fromEntries(Object.entries(auth).filter(([, v]) => v !== undefined))
}

/** Lists the skills, and unless that is all that the scenario wants, loads the first one with all its files. */
async function useSkills(registry, scenario) {
  const [skill] = await registry.skills()
  if (!skill) throw new Error('no skill is listed')
  if (scenario === 'sep-2640-client-no-prefetch') return
  const loaded = await registry.getSkill(skill.server, skill.uri)
  for (const { path } of loaded.files) await loaded.read(path)
}

export async function drive({ createRegistry, url, scenario, context, options, server = {} }) {
  const auth = identity(scenario, context)
  const registry = await createRegistry({
    storage: 'memory',
    ...options,
    ...(scenario in answers && { onElicitation: async () => answers[scenario] }),
    servers: { peer: { url, ...server, ...(auth && { auth }) } },
  })
  const told = []
  let failed = false
  /** Signs in as often as a patient person would. */
  const signingIn = async (attempt) => {
    for (let tries = 0;; tries++) {
      const e = await attempt()
      if (tries === 3 || !e || !/^(sign_in_needed|unauthorized)$/.test(e.code)) return e
      try {
        await registry.signIn('peer')
      } catch (e) {
        return e
      }
    }
  }
  const connecting = await signingIn(async () => {
    const { peer } = (await registry.discover()).servers
    return peer.lastError ? { code: peer.errorCode, message: peer.lastError } : undefined
  })
  if (connecting) {
    told.push(connecting.message)
    failed = scenario !== 'request-metadata'
  }
  const { tools } = registry.getSnapshot()
  for (const [tool, args] of failed ? [] : wanted(scenario, context, tools)) {
    const e = await signingIn(async () => {
      try {
        const name = registry.getSnapshot().tools.find((t) => t.tool === tool)?.name
        if (!name) throw new Error(`tool ${tool} is not listed`)
        await registry.call(name, args)
      } catch (e) {
        return e
      }
    })
    if (!e) continue
    told.push(e.message)
    failed ||= scenario === 'tools_call' || scenario === 'sse-retry' || scenario.startsWith('auth/')
  }
  if (!failed && scenario.startsWith('sep-2640-client-')) {
    try {
      await useSkills(registry, scenario)
    } catch (e) {
      told.push(e.message) // the suite wants it, and looks at what was read
    }
  }
  await registry.close()
  return { failed, told }
}
