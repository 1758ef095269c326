package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTrivialPrompts(t *testing.T) {
	for prompt, want := range map[string]bool{
		"1+1": true, "What's 1 + 1?": true, "Hello": true, "OK": true, "Connection test": true, "  ok.  ": true, "": true,
		"Say hello to me": true, "你好": true, "接続テスト": true,
		"How do I read files asynchronously in Python?":                                     false,
		"JavaScriptでオブジェクトをディープコピーする方法を1つ教えて":                                               false,
		"Two trains at 70 km/h and 80 km/h start 300 km apart. When do they meet, and why?": false,
	} {
		if got := trivial(prompt); got != want {
			t.Errorf("trivial(%q) = %v", prompt, got)
		}
	}
}

func TestScenariosThatAreRefused(t *testing.T) {
	for _, text := range []string{
		`[{"id":"a","prompts":["1+1"]}]`, `[{"id":"a","prompts":[]}]`, `[{"prompts":["How do I sort a list of names?"]}]`,
		`[{"id":"a","prompts":["How do I sort a list of names?"],"expect":{"minLength":3}}]`, `{"id":"a"}`,
	} {
		file := filepath.Join(t.TempDir(), "scenarios.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var errors bytes.Buffer
		if code := run(t.Context(), []string{"chats", "check", "--list", "--file", file}, io.Discard, &errors); code != 2 {
			t.Errorf("%s: exit code %d, %s", text, code, errors.String())
		}
	}
}

// A report that cannot be written is refused before accounts are used. Its outcome is on stdout all the same.
func TestAReportWithoutAPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := portolan(t, "chats", "check", "--yes", "--json", "--dir", t.TempDir(), "--listen", "127.0.0.1:1", "--report", file)
	if code != 1 || !strings.Contains(out, `"NO_REPORT"`) || !strings.Contains(errs, "not a directory") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	var shown bytes.Buffer
	if err := (&chatReport{Passed: 3}).write(&chatsOptions{report: file}, &shown); err == nil || shown.String() != "3 passed, 0 failed\n" {
		t.Errorf("%v, %q", err, shown.String())
	}
}

func TestScenariosAreChosen(t *testing.T) {
	for args, want := range map[string]string{
		"":                             "new-chat code-block existing-chat thinking parallel",
		"--tag smoke":                  "new-chat code-block parallel",
		"--tag code --tag thinking":    "code-block thinking",
		"--tag chatgpt":                "parallel",
		"--id thinking":                "thinking",
		"--site claude":                "new-chat code-block existing-chat thinking",
		"--site chatgpt --site gemini": "new-chat code-block existing-chat thinking parallel",
		"--site chatgpt,gemini":        "new-chat code-block existing-chat thinking parallel",
	} {
		var out, errors bytes.Buffer
		if code := run(t.Context(), append([]string{"chats", "check", "--list"}, strings.Fields(args)...), &out, &errors); code != 0 {
			t.Fatalf("%s: exit code %d, %s", args, code, errors.String())
		}
		var ids []string
		for line := range strings.Lines(out.String()) {
			ids = append(ids, strings.Fields(line)[0])
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
		out.Reset()
		var all []scenario
		if run(t.Context(), append([]string{"chats", "check", "--list", "--json"}, strings.Fields(args)...), &out, &errors) != 0 ||
			json.Unmarshal(out.Bytes(), &all) != nil || len(all) != len(ids) {
			t.Errorf("%s --json: %s", args, out.String())
		}
	}
}

func TestAnswersAreJudged(t *testing.T) {
	const prompt = "Explain optimistic locking in databases"
	good := chatAnswer{Answer: "Optimistic locking lets databases go on …", Confidence: "high", Timings: map[string]float64{"totalMs": 900}}
	for _, row := range []struct {
		expect expect
		change func(*chatAnswer)
		want   string // the assertion that fails
	}{
		{expect{MinAnswerLength: 20, RelevanceThreshold: 0.7, MaxTotalMs: 1000, NoFallback: true, NoEmptyMarkdown: true, Contains: []string{"locking"}}, nil, ""},
		{expect{MinAnswerLength: 100}, nil, "minAnswerLength"},
		{expect{RelevanceThreshold: 0.5}, func(a *chatAnswer) { a.Answer = "The weather is fine." }, "relevanceThreshold"},
		{expect{RelevanceThreshold: 1, Keywords: []string{"mutex"}}, nil, "relevanceThreshold"},
		{expect{MaxTotalMs: 500}, nil, "maxTotalMs"},
		{expect{NoFallback: true}, func(a *chatAnswer) { a.Confidence = "low" }, "noFallback"},
		{expect{NoEmptyMarkdown: true}, func(a *chatAnswer) { a.Answer = " \n" }, "noEmptyMarkdown"},
		{expect{Contains: []string{"```"}}, nil, "contains"},
	} {
		r := checkResult{Prompt: prompt, Answer: good}
		if row.change != nil {
			row.change(&r.Answer)
		}
		row.expect.judge(&r)
		failed := slices.ContainsFunc(r.Failures, func(f string) bool { return strings.HasPrefix(f, row.want+":") })
		if row.want == "" && len(r.Failures) > 0 || row.want != "" && !failed {
			t.Errorf("%+v: %q, want %q", row.expect, r.Failures, row.want)
		}
	}
}

func TestOnePromptAMinute(t *testing.T) {
	file := filepath.Join(t.TempDir(), "times.json")
	again := func() *checker {
		c := &checker{every: promptEvery, log: io.Discard, times: file}
		c.readTimes()
		return c
	}
	c := again()
	for _, site := range []string{"claude", "gemini"} { // another site does not wait
		if err := c.wait(t.Context(), site); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, c := range map[string]*checker{"the same run": c, "the next run": again()} {
		if err := c.wait(ctx, "claude"); err != context.Canceled {
			t.Errorf("%s did not wait: %v", what, err)
		}
	}
	if at := time.Until(again().next["claude"]); at < promptEvery/2 {
		t.Errorf("it may be asked again in %v", at)
	}
	if err := os.WriteFile(file, []byte(`{"claude":"2999-01-01T00:00:00Z"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if at := time.Until(again().next["claude"]); at > promptEvery {
		t.Errorf("a time far ahead counts: %v", at)
	}
}

func TestProjectOfTheStartingFolder(t *testing.T) {
	home := t.TempDir()
	folder := filepath.Join(home, "harbour")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("PORTOLAN_PROJECT", "")
	for at, want := range map[string]string{folder: "harbour", home: "", "/": ""} {
		t.Chdir(at)
		if got := startProject(); got != want {
			t.Errorf("started in %s the project is %q, want %q", at, got, want)
		}
	}
	t.Setenv("PORTOLAN_PROJECT", "tides")
	if got := startProject(); got != "tides" {
		t.Errorf("with PORTOLAN_PROJECT the project is %q", got)
	}
}
