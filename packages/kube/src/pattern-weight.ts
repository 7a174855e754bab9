/**
 * Estimates the cost of an RE2 pattern from its text: at least the number of instructions of its
 * program. Each takes some microseconds to compile, and some KiB once texts are matched. Nothing is
 * compiled, because the estimate decides whether that is safe. For an invalid pattern the result
 * has no meaning.
 */
export function patternWeight(pattern: string): number {
  const outer: number[] = [];
  let sum = START_AND_END;
  let last = 0;
  const add = (weight: number): void => {
    sum += weight;
    last = weight;
  };
  for (let at = 0; at < pattern.length; at++) {
    const rest = () => pattern.slice(at, at + LONGEST_TOKEN);
    switch (pattern.charAt(at)) {
      case '\\': {
        const [token = '\\'] = ESCAPE.exec(rest()) ?? [];
        add(/^\\[pP]/.test(token) ? UNICODE_CLASS : PLAIN);
        at += token.length - 1;
        break;
      }
      case '[': {
        const end = endOfClass(pattern, at);
        const text = pattern.slice(at, end);
        add(PLAIN + text.length + UNICODE_CLASS * (text.split(/\\[pP]/).length - 1));
        at = end;
        break;
      }
      case '(':
        outer.push(sum);
        sum = GROUP;
        break;
      case ')': {
        const weight = sum;
        sum = outer.pop() ?? 0;
        add(weight);
        break;
      }
      case '{': {
        const [token = '', least = '0', most = ''] = REPETITION.exec(rest()) ?? [];
        if (token === '') add(PLAIN);
        else {
          // Each copy may be skipped, which takes one more instruction.
          const weight = (last + PLAIN) * Math.max(Number(least), Number(most), 1);
          sum += weight - last;
          last = weight;
          at += token.length - 1;
        }
        break;
      }
      default:
        add(PLAIN);
    }
  }
  return outer.reduce((total, part) => total + part, sum);
}

/** Also covers letters without case and repetitions. */
const PLAIN = 1;
/** A Unicode class has hundreds of ranges, which take as long as this many instructions. */
const UNICODE_CLASS = 40;
const GROUP = 3;
const START_AND_END = 4;

const ESCAPE = /^\\(?:[pP](?:\{[^}]*\}|.)|x\{[^}]*\}|[\s\S])/;
const REPETITION = /^\{([0-9]+)(?:,([0-9]*))?\}/;
/** The name of a Unicode class, or two numbers. */
const LONGEST_TOKEN = 64;

/** The position of the bracket that closes the class beginning at `start`. */
function endOfClass(pattern: string, start: number): number {
  const first = pattern[start + 1] === '^' ? start + 2 : start + 1;
  for (let at = first; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern.startsWith('[:', at)) at = Math.max(at, pattern.indexOf(':]', at) + 1);
    else if (pattern[at] === ']' && at > first) return at;
  }
  return pattern.length;
}
