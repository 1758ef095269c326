package proxy

type streams struct{ open map[string]int }

func (p *Policy) Enter(string) bool { panic("in Enter, after Respond") }

func (p *Policy) Leave(string) { panic("in Leave, of a stream that has not begun") }
