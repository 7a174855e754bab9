import { invalid, notSupported } from '../../kube/field-error.ts';

/** `dryRun=All`: everything happens but the write. */
export function isDryRun(query: URLSearchParams, kind: string): boolean {
  const values = query.getAll('dryRun').filter((value) => value !== '');
  if (values.some((value) => value !== 'All')) {
    throw invalid({ group: 'meta.k8s.io', kind }, '', [notSupported('dryRun', values, ['All'])]);
  }
  return values.length > 0;
}
