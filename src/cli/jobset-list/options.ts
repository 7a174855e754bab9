/** The arguments of `lockstep status` for several JobSets. */
import { parseLabelSelector } from '@lockstep/kube/selectors/label-selector.ts';
import { Arguments, namespaceErrors, type Parsed } from '../arguments.ts';
import { jobSetNameErrors } from '../named-jobset.ts';
import { NAMES_DO_NOT_CHANGE, OUTPUT_FORMS, type OutputForm } from '../output-form.ts';

export interface ListOptions {
  /** None: all. */
  readonly names: readonly string[];
  /** Undefined: the namespace of the kubeconfig's context. */
  readonly namespace: string | undefined;
  readonly isEverywhere: boolean;
  readonly selector: string | undefined;
  readonly output: OutputForm;
  readonly hasHeadings: boolean;
  readonly isLive: boolean;
}

export interface ListFlags {
  readonly namespace?: string | undefined;
  readonly allNamespaces?: boolean | undefined;
  readonly selector?: string | undefined;
  readonly output?: string | undefined;
  readonly headers?: boolean | undefined;
  readonly watch?: boolean | undefined;
}

export function parseList(
  names: readonly string[],
  { namespace, allNamespaces, selector, output, headers, watch }: ListFlags,
): Parsed<ListOptions> {
  const given = new Arguments(whereErrors(names, namespace));
  const isEverywhere = allNamespaces === true;
  if (isEverywhere) given.refuse(...everywhereErrors(names, namespace));
  if (selector !== undefined) given.refuse(...selectorErrors(names, selector));
  const form = given.oneOf('--output', output, OUTPUT_FORMS) ?? 'table';
  if (watch === true && form === 'name') given.refuse(NAMES_DO_NOT_CHANGE);
  return given.parsed({
    names: [...new Set(names)],
    namespace,
    isEverywhere,
    selector,
    output: form,
    hasHeadings: headers !== false,
    isLive: watch === true,
  });
}

function whereErrors(names: readonly string[], namespace: string | undefined): readonly string[] {
  const ofNames = names.flatMap((name) => jobSetNameErrors({ name, namespace: undefined }));
  return [...ofNames, ...namespaceErrors(namespace)];
}

function everywhereErrors(
  names: readonly string[],
  namespace: string | undefined,
): readonly string[] {
  const [name] = names;
  return [
    ...(name === undefined
      ? []
      : [`--all-namespaces and JobSet "${name}": a name is of one namespace, use --namespace`]),
    ...(namespace === undefined
      ? []
      : [`--all-namespaces and --namespace "${namespace}": only one of them is allowed`]),
  ];
}

function selectorErrors(names: readonly string[], selector: string): readonly string[] {
  const [name] = names;
  if (name !== undefined) {
    return [`--selector "${selector}" and JobSet "${name}": only one of them is allowed`];
  }
  try {
    parseLabelSelector(selector);
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [`--selector is "${selector}": ${why}`];
  }
}
