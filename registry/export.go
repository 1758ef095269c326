package registry

// Export writes the tools that pass the filter as one JSON array in a dialect,
// in the order of [Registry.Tools], and reports what the dialect could not
// express. A tool whose list was replaced meanwhile is left out, and the report
// says so. For a dialect that is not one of [Dialects] the array is nil, and the
// report's one loss says why.
func (r *Registry) Export(d Dialect, f Filter) ([]byte, Report) {
	var report Report
	if err := d.check(); err != nil {
		report.Losses = []Loss{{What: err.Error()}}
		return nil, report
	}
	out := []byte{'['}
	for _, t := range r.Tools(f) {
		def, err := t.Def.JSON()
		if err != nil {
			report.Losses = append(report.Losses, Loss{t.Name, "", "tool: left out, its list was replaced"})
			continue
		}
		tool, losses, err := Convert(d, t.Name, t.Server, def)
		if err != nil {
			report.Losses = append(report.Losses, Loss{t.Name, "", "tool: left out, " + err.Error()})
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
