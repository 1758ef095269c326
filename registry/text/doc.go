// Package text makes texts of strangers fit to be read, shown and sent on.
//
// Servers choose the texts of their tools, errors and results. [Clean] removes
// hidden characters from one text, and [CleanDefinition] from all texts of a
// tool. [Plain] makes a text fit for one line of a user interface. [Redact]
// hides header values that a server repeats.
//
// The ranges of hidden characters and the tables of testdata/hygiene are shared
// with wasm/js/shared/plaintext.ts and wasm/js/fetch/hygiene.ts. In a browser the
// host cleans all texts that leave the module. [Visible] does nothing there, so
// that the module does not link the tables.
package text
