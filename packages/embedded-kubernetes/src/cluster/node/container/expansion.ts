/**
 * `$(NAME)` in commands, arguments and values of environment variables, as Kubernetes expands it:
 * `$$` stands for one `$`, and a reference to an unknown name, or one without its closing
 * parenthesis, stays as it is. Never fails, one pass, no recursion.
 */
export function expand(text: string, variables: ReadonlyMap<string, string>): string {
  let result = '';
  let copied = 0;
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', at)) {
    result += text.slice(copied, at);
    const { replacement, length } = reference(text, at, variables);
    result += replacement;
    at += length;
    copied = at;
  }
  return result + text.slice(copied);
}

/**
 * The replacement for the text from the `$` at `at`, and how many characters of it were used up.
 */
function reference(
  text: string,
  at: number,
  variables: ReadonlyMap<string, string>,
): { readonly replacement: string; readonly length: number } {
  if (text[at + 1] === '$') return { replacement: '$', length: 2 };
  const end = text[at + 1] === '(' ? text.indexOf(')', at + 2) : -1;
  if (end < 0) return { replacement: '$', length: 1 };
  const whole = text.slice(at, end + 1);
  return { replacement: variables.get(text.slice(at + 2, end)) ?? whole, length: whole.length };
}
