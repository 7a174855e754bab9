/** Absent members: JSON has no `undefined`, and an optional property is there or it is not. */

/** `T` with the members that may be undefined as optional ones. */
type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The members that have a value, to spread into an object: `{ name, ...defined({ namespace }) }`. */
export function defined<T extends object>(members: T): Defined<T> {
  const present: { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) present[name] = value;
  }
  // The loop leaves out exactly what the type makes optional.
  return present as Defined<T>;
}
