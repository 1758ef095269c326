package approvals

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pinOf returns a pin of seven parts, of which name and description are the given ones.
func pinOf(name, description string) string {
	return name + "/" + description + "." + name + ".title." + description + ".in.out.a.m"
}

func list(tools ...string) []Tool {
	var out []Tool
	for _, tool := range tools {
		name, description, _ := strings.Cut(tool, ":")
		out = append(out, Tool{Name: name, Pin: pinOf(name, description), Def: []byte(tool)})
	}
	return out
}

func holds(tools []Tool) (out []string) {
	for _, t := range tools {
		if h := t.Hold; h != nil {
			out = append(out, strings.TrimSpace(t.Name+" "+h.Reason+" "+h.RenamedFrom+" "+string(h.Before)+" "+strings.Join(h.Changes, " ")))
		}
	}
	return out
}

func TestReview(t *testing.T) {
	for _, row := range []struct {
		name   string
		policy Policy
		lists  [][]Tool
		want   []string // holds of the last list
	}{
		{"the first list is approved", Policy{}, [][]Tool{list("a:1", "b:1")}, nil},
		{"the first list is held on request", Policy{HoldFirst: true}, [][]Tool{list("a:1")}, []string{"a new"}},
		{"a changed tool is held", Policy{}, [][]Tool{list("a:1", "b:1"), list("a:2", "b:1")}, []string{"a changed  a:1 description"}},
		{"a new tool is approved", Policy{}, [][]Tool{list("a:1"), list("a:1", "b:1")}, nil},
		{"a new tool is held on request", Policy{HoldNew: true}, [][]Tool{list("a:1"), list("a:1", "b:1")}, []string{"b new"}},
		{"a renamed tool is held", Policy{}, [][]Tool{list("a:1"), list("b:1")}, []string{"b renamed a a:1 name"}},
		{"a tool that was away is compared", Policy{}, [][]Tool{list("a:1", "b:1"), list("b:1"), list("a:2", "b:1")}, []string{"a changed  a:1 description"}},
		{"a tool without a pin is not held", Policy{HoldFirst: true}, [][]Tool{{{Name: "a"}}}, nil},
	} {
		e := Parse("")
		var last []Tool
		for _, last = range row.lists {
			e.Review(last, row.policy, "")
		}
		if diff := cmp.Diff(row.want, holds(last)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}

func TestTextAndParse(t *testing.T) {
	e := Parse("")
	if fresh, save := e.Review(list("a:1", "b:1"), Policy{}, "print"); !slices.Equal(fresh, []string{"a", "b"}) || !save {
		t.Errorf("fresh %v, save %v", fresh, save)
	}
	if _, save := e.Review(list("a:1", "b:1"), Policy{}, "print"); save {
		t.Error("an unchanged list is saved")
	}
	e.Remember("a", pinOf("a", "1"), "always")
	again := Parse(e.Text())
	if !again.Known() || again.Len() != 2 || !again.IsApprovedList("print") || again.Pin("b") != pinOf("b", "1") {
		t.Errorf("read again: %q", again.Text())
	}
	if got := again.Answer("a", pinOf("a", "1")); got != "always" {
		t.Errorf("answer %q", got)
	}
	if got := again.Answer("a", pinOf("a", "2")); got != "" {
		t.Errorf("the answer about a changed tool is %q", got)
	}
	if !again.ForgetAnswers() || again.ForgetAnswers() {
		t.Error("answers are not forgotten once")
	}
	again.Forget("a")
	if again.IsApprovedList("print") {
		t.Error("the list counts as approved without one of its tools")
	}
}

func TestHashesOfNamesAreStored(t *testing.T) {
	e := Parse("a\t" + pinOf("a", "1") + "\n") // as it was stored before there were hashes
	e.Review(list("a:1", "b:1"), Policy{Day: "7"}, "")
	e.Forget("a")
	text := e.Text()
	if want := seenName + "\t" + hashOf("a") + ". " + hashOf("b") + ".7\n"; !strings.HasPrefix(text, want) && hashOf("a") < hashOf("b") {
		t.Errorf("stored %q, want %q", text, want)
	}
	again := Parse(text)
	if again.room("7") != newPerDay-1 || again.room("8") != newPerDay {
		t.Errorf("room %d, then %d", again.room("7"), again.room("8"))
	}
	tools := list("a:1", "b:1")
	again.Review(tools, Policy{Day: "7"}, "")
	if diff := cmp.Diff([]string{"a changed"}, holds(tools)); diff != "" {
		t.Errorf("holds (-want +got):\n%s", diff)
	}
}

func TestInherit(t *testing.T) {
	old := Parse("")
	old.Review(list("a:1", "b:1"), Policy{}, "")
	same := Parse(old.Text())
	if same.Inherit(old) {
		t.Error("equal pins count as changed")
	}
	other := Parse(strings.ReplaceAll(same.Text(), "a/1", "a/3"))
	if !other.Inherit(same) {
		t.Error("a changed pin does not count")
	}
	tools := list("a:2", "b:2")
	other.Review(tools, Policy{}, "")
	if diff := cmp.Diff([]string{"a changed   description", "b changed  b:1 description"}, holds(tools)); diff != "" {
		t.Errorf("holds (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("\x7f\tabc. def.7 . x\n")
	f.Add("\tprint\na\tpin\na\tdigest\talways\n")
	f.Fuzz(func(t *testing.T, text string) {
		e := Parse(text)
		again := Parse(e.Text())
		if again.Len() != e.Len() {
			t.Fatalf("%q: %d tools, then %d", text, e.Len(), again.Len())
		}
		for name, pin := range e.pins {
			if again.Pin(name) != pin {
				t.Fatalf("%q: %q is %q, then %q", text, name, pin, again.Pin(name))
			}
		}
	})
}

func TestPromptsAreApproved(t *testing.T) {
	const odd = "a\tb\n\"c\""
	e := Parse("")
	if hold, fresh := e.ReviewPrompt(odd, `{"title":"A"}`, Policy{HoldNew: true}, true); hold != nil || !fresh {
		t.Errorf("the first list: %v, %v", hold, fresh)
	}
	e = Parse(e.Text())
	if !e.HasPrompts(false) || e.Known() {
		t.Errorf("%q: %v, known %v", e.Text(), e.HasPrompts(false), e.Known())
	}
	if hold, _ := e.ReviewPrompt(odd, `{"title":"B"}`, Policy{}, false); hold == nil || hold.Reason != Changed || string(hold.Before) != `{"title":"A"}` {
		t.Errorf("changed: %v", hold)
	}
	if hold, _ := e.ReviewPrompt("new", `{}`, Policy{HoldNew: true}, false); hold == nil || hold.Reason != New {
		t.Errorf("new: %v", hold)
	}
	if hold, fresh := e.ReviewPrompt("long", `{"title":"`+strings.Repeat("a", maxPrompts)+`"}`, Policy{}, false); hold != nil || fresh {
		t.Errorf("too long to be kept: %v, %v", hold, fresh)
	}
	if e = Parse("\x02\"a\"\t{\n\x02\"b\"\t[]\n"); e.HasPrompts(false) {
		t.Errorf("damaged: %q", e.Text())
	}
}

// Skills and prompts take no room from each other, and a server may have a thousand of them.
func TestSkillsHaveRoomOfTheirOwn(t *testing.T) {
	e := Parse("")
	for i := range 1000 {
		if !e.ApprovePrompt(SkillName(fmt.Sprintf("skill://a-team/of-some-name/skill-%d/SKILL.md", i)), `{"sha256":"`+strings.Repeat("a", 43)+`"}`) {
			t.Fatalf("no room for skill %d", i)
		}
	}
	if !e.ApprovePrompt("p", `{"title":"`+strings.Repeat("a", maxPrompts-100)+`"}`) {
		t.Error("no room for a prompt")
	}
	if e.ApprovePrompt(SkillName(strings.Repeat("a", maxSkills)), "{}") || e.ApprovePrompt("q", `"`+strings.Repeat("a", 200)+`"`) {
		t.Error("the room has no end")
	}
}

// Instructions are approved before the first list, which counts as the first after them.
func TestInstructionsComeBeforeTheFirstList(t *testing.T) {
	e := Parse("")
	e.ApproveInstructions("Read first.\n\tThen write.")
	e = Parse(e.Text())
	if text, reviewed := e.Instructions(); text != "Read first.\n\tThen write." || !reviewed || e.Known() {
		t.Errorf("%q, %v, known %v", text, reviewed, e.Known())
	}
	tools := list("a:b")
	if e.Review(tools, Policy{HoldNew: true}, "print"); tools[0].Hold != nil {
		t.Errorf("held: %v", holds(tools))
	}
	e = Parse(e.Text())
	if text, _ := e.Instructions(); text == "" || !e.Known() || e.Pin("a") == "" {
		t.Errorf("%q", e.Text())
	}
}
