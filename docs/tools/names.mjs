import { Converter, ReflectionKind } from 'typedoc'

/** Modules are called what they are imported by. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) {
      module.name = { index: 'portolan', locale: 'portolan/locales/*' }[module.name] ?? `portolan/${module.name}`
    }
  })
}
