/**
 * Escapes names of fields for expressions (`k8s.io/apiserver/pkg/cel`). `a.b` becomes `a__dot__b`,
 * `my-field` becomes `my__dash__field`, and reserved words are escaped too.
 */

/** Undefined if the name cannot be written in an expression at all. */
export function escapedFieldName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  return name.replace(/__|[./-]/g, (part) => ESCAPES[part] ?? part);
}

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

const RESERVED: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package ' +
    'namespace return var void while'
  ).split(' '),
);
