package registry

// Export writes the tools that pass the filter as one JSON array in a dialect,
// in the order of [Registry.Tools], and reports what the dialect could not
// express. The error is for an unknown dialect; a tool whose list was replaced
// meanwhile is left out, and the report says so.
func (r *Registry) Export(d Dialect, f Filter) ([]byte, Report, error) {
	if err := d.check(); err != nil {
		return nil, Report{}, err
	}
	var report Report
	out := []byte{'['}
	for _, t := range r.Tools(f) {
		def, err := t.Def.JSON()
		if err != nil {
			report.Losses = append(report.Losses, Loss{t.Name, "", "tool: left out, its list was replaced"})
			continue
		}
		tool, losses, err := Convert(d, t.Name, t.Server, def)
		if err != nil {
			return nil, Report{}, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, tool...)
		report.Losses = append(report.Losses, losses...)
	}
	return append(out, ']'), report, nil
}
