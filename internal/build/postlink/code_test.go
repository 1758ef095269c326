package main

import (
	"slices"
	"testing"
)

const (
	sp      = "\x20\x01"                  // local.get 1
	address = sp + "\xad\x42\x10\x7c\xa7" // SP+16
	load    = "\x29\x03"                  // i64.load, before its offset
	store   = "\x37\x03"                  // i64.store
)

func rewrittenCode(t *testing.T, code string) string {
	t.Helper()
	all, err := decode([]byte(code))
	if err != nil {
		t.Fatalf("%q: %v", code, err)
	}
	var out []byte
	for _, i := range leave(branch(fold(all))) {
		out = append(out, i.text...)
	}
	return string(out)
}

func TestAddressesAreFolded(t *testing.T) {
	for name, row := range map[string]struct{ code, want string }{
		"a load":                    {address + load + "\x08", sp + load + "\x18"},
		"a store":                   {address + "\x42\x01" + store + "\x70", sp + "\x42\x01" + store + "\x80\x01"},
		"a store of a loaded value": {address + address + load + "\x00" + store + "\x00", sp + sp + load + "\x10" + store + "\x10"},
		"an address that is stored": {address + address + "\xad" + store + "\x00", sp + address + "\xad" + store + "\x10"},
		"an address that is added":  {address + "\x41\x01\x6a" + load + "\x00", address + "\x41\x01\x6a" + load + "\x00"},
		"an address that is kept":   {address + "\x22\x02" + load + "\x00", address + "\x22\x02" + load + "\x00"},
		"a copy":                    {address + address + "\x41\x08\xfc\x0a\x00\x00", address + address + "\x41\x08\xfc\x0a\x00\x00"},
		"a call before the store":   {address + "\x10\x00" + store + "\x00", address + "\x10\x00" + store + "\x00"},
		"a block before the store":  {address + "\x02\x40\x0b\x42\x01" + store + "\x00", address + "\x02\x40\x0b\x42\x01" + store + "\x00"},
		"a negative constant":       {sp + "\xad\x42\x70\x7c\xa7" + load + "\x18", sp + "\xad\x42\x70\x7c\xa7" + load + "\x18"},
		"another order":             {sp + "\xad\x42\x10\x7c" + load + "\x08", sp + "\xad\x42\x10\x7c" + load + "\x08"},
	} {
		if got := rewrittenCode(t, row.code); got != row.want {
			t.Errorf("%s: %q becomes %q, want %q", name, row.code, got, row.want)
		}
	}
}

func TestJumpsAheadAreBranches(t *testing.T) {
	const (
		// A loop with two blocks, and the table of both.
		begin = "\x02\x40\x03\x40\x02\x40\x02\x40\x20\x00\x0e\x02\x00\x01\x01"
		first = "\x0b" // the end of the inner block, after which block 0 begins
		ends  = "\x0b\x0b\x0b\x0b"
		to0   = "\x41\x00\x21\x00\x0c"
		to1   = "\x41\x01\x21\x00\x0c"
		if_   = "\x20\x02\x04\x40"
	)
	for name, row := range map[string]struct{ code, want string }{
		"ahead":                    {begin + first + to1 + "\x01" + ends, begin + first + "\x0c\x00" + ends},
		"ahead on a condition":     {begin + first + if_ + to1 + "\x02\x0b" + ends, begin + first + "\x20\x02\x0d\x00" + ends},
		"ahead, after work":        {begin + first + if_ + "\x01" + to1 + "\x02\x0b" + ends, begin + first + if_ + "\x01\x0c\x01\x0b" + ends},
		"ahead, before work":       {begin + first + if_ + to1 + "\x02\x01\x0b" + ends, begin + first + if_ + "\x0c\x01\x01\x0b" + ends},
		"back":                     {begin + first + to0 + "\x01" + ends, begin + first + to0 + "\x01" + ends},
		"to no block":              {begin + first + "\x41\x05\x21\x00\x0c\x01" + ends, begin + first + "\x41\x05\x21\x00\x0c\x01" + ends},
		"to no loop":               {begin + first + to1 + "\x00" + ends, begin + first + to1 + "\x00" + ends},
		"with local 0 read":        {begin + first + to1 + "\x01\x20\x00" + ends, begin + first + to1 + "\x01\x20\x00" + ends},
		"with a call of a pointer": {begin + first + "\x21\x00\x41\x00\x20\x00\x11\x00\x00" + to1 + "\x01" + ends, begin + first + "\x21\x00\x41\x00\x20\x00\x11\x00\x00\x0c\x00" + ends},
		"without a table":          {to1 + "\x01\x0b", to1 + "\x01\x0b"},
	} {
		if got := rewrittenCode(t, row.code); got != row.want {
			t.Errorf("%s: %q becomes %q, want %q", name, row.code, got, row.want)
		}
	}
}

func TestCallsReturn(t *testing.T) {
	const returns = "\x04\x40\x41\x01\x0f\x0b"
	for name, row := range map[string]struct{ code, want string }{
		"from the block":            {"\x02\x40\x10\x07\x0d\x00\x0b\x41\x01\x0b", "\x02\x40\x10\x07" + returns + "\x0b\x41\x01\x0b"},
		"from a loop":               {"\x02\x40\x03\x40\x10\x07\x0d\x01\x0b\x0b\x41\x01\x0b", "\x02\x40\x03\x40\x10\x07" + returns + "\x0b\x0b\x41\x01\x0b"},
		"to a loop":                 {"\x02\x40\x03\x40\x10\x07\x0d\x00\x0b\x0b\x41\x01\x0b", "\x02\x40\x03\x40\x10\x07\x0d\x00\x0b\x0b\x41\x01\x0b"},
		"a function of two blocks":  {"\x02\x40\x10\x07\x0d\x00\x0b\x02\x40\x0b\x41\x01\x0b", "\x02\x40\x10\x07\x0d\x00\x0b\x02\x40\x0b\x41\x01\x0b"},
		"a function of a loop":      {"\x03\x40\x10\x07\x0d\x00\x0b\x41\x01\x0b", "\x03\x40\x10\x07\x0d\x00\x0b\x41\x01\x0b"},
		"a function that returns 2": {"\x02\x40\x10\x07\x0d\x00\x0b\x41\x02\x0b", "\x02\x40\x10\x07\x0d\x00\x0b\x41\x02\x0b"},
	} {
		if got := rewrittenCode(t, row.code); got != row.want {
			t.Errorf("%s: %q becomes %q, want %q", name, row.code, got, row.want)
		}
	}
}

func TestSignedNumbers(t *testing.T) {
	var got []int64
	for _, text := range []string{"\x00", "\x3f", "\x40", "\xff\x00", "\x80\x7f", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f"} {
		r := &reader{rest: []byte(text)}
		if got = append(got, r.signed()); r.bad || len(r.rest) > 0 {
			t.Errorf("%q: %v", text, r)
		}
	}
	if want := []int64{0, 63, -64, 127, -128, 1<<63 - 1, -1 << 63}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if r := (&reader{rest: []byte("\x80")}); r.signed() != 0 || !r.bad {
		t.Error("a cut number is read")
	}
}
