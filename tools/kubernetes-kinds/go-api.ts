/** All Go packages of the API under the names that their types have in OpenAPI documents. */
import type { GoField, GoPackage, GoType } from './go-types.ts';

export class GoApi {
  readonly #packages: ReadonlyMap<string, GoPackage>;

  /** `packages` by prefix, such as `io.k8s.api.core.v1`. */
  constructor(packages: ReadonlyMap<string, GoPackage>) {
    this.#packages = packages;
  }

  struct(title: string): readonly GoField[] | undefined {
    const [prefix, name] = splitTitle(title);
    return this.#packages.get(prefix)?.structs.get(name);
  }

  enumeration(title: string): readonly string[] | undefined {
    const [prefix, name] = splitTitle(title);
    return this.#packages.get(prefix)?.enums.get(name);
  }

  /** The type that a field has in the end, by way of the types that only give another a name. */
  resolve(type: GoType): GoType {
    if (type.name === UID) return { ...type, name: 'string' };
    const [prefix, name] = splitTitle(type.name);
    const alias = this.#packages.get(prefix)?.aliases.get(name);
    if (alias === undefined) return type;
    const { wrapping, name: target } = this.resolve(alias);
    return { wrapping: type.wrapping + wrapping, name: target };
  }

  /**
   * The fields of a struct as JSON has them, with fields of inlined structs among them, in their
   * order.
   */
  members(title: string): readonly GoField[] {
    return (this.struct(title) ?? []).flatMap((field) =>
      field.name === '' ? this.members(field.type.name) : field,
    );
  }
}

/** The one text with a name of its own that no package of the API declares. */
const UID = 'io.k8s.apimachinery.pkg.types.UID';

/** `io.k8s.api.core.v1` and `Pod`. */
export function splitTitle(title: string): readonly [string, string] {
  const dot = title.lastIndexOf('.');
  return [title.slice(0, dot), title.slice(dot + 1)];
}
