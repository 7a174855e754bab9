/** A JSON Pointer, RFC 6901: `/metadata/annotations/example.com~1key`. */
export class JsonPointer {
  readonly text: string;
  /** The steps to the target's container. */
  readonly parents: readonly string[];
  /** The name or index of the target in it; meaningless for the root. */
  readonly last: string;

  /** `text` must be valid; check it with `error`. */
  constructor(text: string) {
    this.text = text;
    const steps = text.split('/').slice(1).map(unescaped);
    this.last = steps.pop() ?? '';
    this.parents = steps;
  }

  get isRoot(): boolean {
    return this.text === '';
  }

  /** The number of steps below the root. */
  get depth(): number {
    return this.isRoot ? 0 : this.parents.length + 1;
  }

  /** Whether `other` points below this target. */
  contains(other: JsonPointer): boolean {
    return other.text.startsWith(`${this.text}/`);
  }

  /** What is wrong with an invalid text. */
  static error(text: string): string | undefined {
    if (text !== '' && !text.startsWith('/')) return 'must be empty or begin with "/"';
    return /~(?![01])/.test(text) ? '"~" must be followed by "0" or "1"' : undefined;
  }

  /** Escapes a name as a step of a pointer. */
  static escaped(name: string): string {
    return name.replaceAll('~', '~0').replaceAll('/', '~1');
  }

  /** A step as an array index: digits without leading zeros. */
  static index(step: string): number | undefined {
    return /^(?:0|[1-9][0-9]{0,14})$/.test(step) ? Number(step) : undefined;
  }
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
