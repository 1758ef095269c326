const worded = new Set(
  ('hidden_text lookalike concealment override pseudo_tag sensitive_path exfiltration data_url shadowing parameter ' +
    'blob schema_mismatch secret').split(' '),
)
/** The end of the message key for a rule of the registry. */
export const wordsOfRule = (rule: string): string => (worded.has(rule) ? rule : 'else')
