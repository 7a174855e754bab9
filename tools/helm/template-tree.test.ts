import { expect, test } from 'vitest';
import { Expression, either, not, Optional, templateText } from './template-tree.ts';

const A = '$.Values.a';
const B = '$.Values.b';

test.each([
  ['what both have, once', either(A, { x: [1] }, { x: [1] }), 'x:\n  - 1\n'],
  [
    'a condition around items that one of them lacks, in the order of both',
    either(A, { x: [1, 2, 3] }, { x: [0, 1, 3] }),
    `x:
  {{- if not ${A} }}
  - 0
  {{- end }}
  - 1
  {{- if ${A} }}
  - 2
  {{- end }}
  - 3
`,
  ],
  [
    'conditions inside of conditions',
    either(B, { x: either(A, [1, 2], [1]) }, { x: [1] }),
    `x:
  - 1
  {{- if ${B} }}
  {{- if ${A} }}
  - 2
  {{- end }}
  {{- end }}
`,
  ],
  [
    'differences inside of items with the same names',
    either(A, [{ name: 'x', args: ['a'] }], [{ name: 'x', args: [] }]),
    `- name: x
  args:
    {{- if ${A} }}
    - a
    {{- end }}
`,
  ],
  [
    'other differences on one line',
    either(A, { x: { y: new Expression('{{ toJson . }}') } }, { x: {} }),
    `x: {{ if ${A} }}{"y": {{ toJson . }}}{{ else }}{}{{ end }}\n`,
  ],
  ['templates of others as they are', { x: '{{ $labels.y }}' }, 'x: "{{ "{{" }} $labels.y }}"\n'],
  ['expressions without quotes', { x: new Expression('{{ .y }}') }, 'x: {{ .y }}\n'],
  [
    'entries that may be left out',
    { x: { y: new Optional('.y') } },
    'x:\n  {{- with .y }}\n  y: {{ toJson . }}\n  {{- end }}\n',
  ],
])('a template has %s', (_, tree, text) => {
  expect(templateText(tree)).toBe(text);
});

test('the opposite of an opposite is the condition', () => {
  expect(not(not(A))).toBe(A);
});
