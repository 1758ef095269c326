package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A chatReport has the outcome of each scenario and site.
type chatReport struct {
	StartedAt time.Time     `json:"startedAt"`
	Passed    int           `json:"passed"`
	Failed    int           `json:"failed"`
	Results   []checkResult `json:"results"`
}

type checkResult struct {
	ID        string     `json:"id"`
	Site      string     `json:"site"`
	Tags      []string   `json:"tags,omitempty"`
	Prompt    string     `json:"prompt"`
	Code      string     `json:"code,omitempty"` // of a prompt that failed
	Failures  []string   `json:"failures,omitempty"`
	Relevance float64    `json:"relevance"`
	Answer    chatAnswer `json:"answer"`
	Snapshot  any        `json:"snapshot,omitempty"` // of the page, without people's texts
}

// A chatAnswer is the structured content of a chat's result.
type chatAnswer struct {
	Answer         string             `json:"answer"`
	URL            string             `json:"url"`
	ConversationID string             `json:"conversationId"`
	Timings        map[string]float64 `json:"timings"`
	Profile        string             `json:"profile"`
	Confidence     string             `json:"confidence"`
	Evidence       []string           `json:"evidence"`
	Model          string             `json:"model"`
	Flags          []string           `json:"flags"`
}

func (r *checkResult) fail(format string, args ...any) {
	r.Failures = append(r.Failures, fmt.Sprintf(format, args...))
}

// line says the outcome in one line for a terminal.
func (r checkResult) line() string {
	if len(r.Failures) == 0 {
		return fmt.Sprintf("ok    %s on %s (%.1f s)", r.ID, r.Site, r.Answer.Timings["totalMs"]/1000)
	}
	return fmt.Sprintf("FAIL  %s on %s: %s", r.ID, r.Site, printable(strings.Join(r.Failures, "; ")))
}

func (r *chatReport) add(result checkResult) {
	r.Results = append(r.Results, result)
	if len(result.Failures) > 0 {
		r.Failed++
	} else {
		r.Passed++
	}
}

// write writes the outcome, or with json the report, to stdout. Then it writes report.json and report.md into a folder.
func (r *chatReport) write(o *chatsOptions, stdout io.Writer) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if o.json {
		_, err = fmt.Fprintf(stdout, "%s\n", text)
	} else {
		_, err = fmt.Fprintf(stdout, "%d passed, %d failed\n", r.Passed, r.Failed)
	}
	if o.report != "" {
		for name, content := range map[string]string{"report.json": string(text) + "\n", "report.md": r.markdown()} {
			if err := os.WriteFile(filepath.Join(o.report, name), []byte(content), 0o600); err != nil {
				return err
			}
		}
	}
	return err
}

func (r *chatReport) markdown() string {
	var b strings.Builder
	cell := func(s string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(printable(s)) }
	fmt.Fprintf(&b, "# Chats, checked %s\n\n%d passed, %d failed.\n\n", r.StartedAt.Format(time.RFC3339), r.Passed, r.Failed)
	b.WriteString("| scenario | chat | outcome | s | model | confidence |\n| --- | --- | --- | ---: | --- | --- |\n")
	for _, c := range r.Results {
		outcome := "ok"
		if len(c.Failures) > 0 {
			outcome = "**failed** " + c.Code
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %.1f | %s | %s |\n", cell(c.ID), cell(c.Site), cell(outcome),
			c.Answer.Timings["totalMs"]/1000, cell(c.Answer.Model), cell(c.Answer.Confidence))
	}
	for _, c := range r.Results {
		if len(c.Failures) == 0 && c.Snapshot == nil {
			continue
		}
		fmt.Fprintf(&b, "\n## %s on %s\n\n> %s\n\n", cell(c.ID), cell(c.Site), cell(c.Prompt))
		for _, f := range c.Failures {
			fmt.Fprintf(&b, "- %s\n", cell(f))
		}
		fmt.Fprintf(&b, "\nAnswer: %d characters, relevance %.2f, evidence: %s\n", len([]rune(c.Answer.Answer)), c.Relevance,
			cell(strings.Join(c.Answer.Evidence, ", ")))
		if c.Snapshot != nil {
			if shot, err := json.MarshalIndent(c.Snapshot, "", "  "); err == nil {
				fmt.Fprintf(&b, "\n~~~json\n%s\n~~~\n", shot)
			}
		}
	}
	return b.String()
}

// textOf returns the text of a result.
func textOf(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n\n")
}
