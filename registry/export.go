package registry

import "github.com/portolan-mcp/portolan/registry/convert"

// Export writes the tools that pass the filter as one JSON array in a dialect,
// in the order of [Registry.Tools]. The report names what the dialect could not
// express, and each tool that is left out because its list was replaced meanwhile.
// For an unknown dialect the array is nil, and the report's one loss says why.
func (r *Registry) Export(d convert.Dialect, f Filter) ([]byte, convert.Report) {
	var report convert.Report
	if err := d.Check(); err != nil {
		report.Losses = []convert.Loss{{What: err.Error()}}
		return nil, report
	}
	out := []byte{'['}
	for _, t := range r.Tools(f) {
		def, err := t.Def.JSON()
		if err != nil {
			report.Losses = append(report.Losses, convert.Loss{Tool: t.Name, What: "tool: left out, its list was replaced"})
			continue
		}
		tool, losses, err := convert.Tool(d, t.Name, t.Server, def)
		if err != nil {
			report.Losses = append(report.Losses, convert.Loss{Tool: t.Name, What: "tool: left out, " + err.Error()})
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, tool...)
		report.Losses = append(report.Losses, losses...)
	}
	return append(out, ']'), report
}
