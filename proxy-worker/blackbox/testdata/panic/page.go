package proxy

func (p *Policy) page(string) *Decision { panic("in Decide") }
