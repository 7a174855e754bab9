/**
 * The query of `GET /containerLogs/...`, with the parameters of the API's `pods/log`. An error
 * names the parameter, its value and what was expected.
 */
export interface LogQuery {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  /** Only this many last lines. */
  readonly tailLines: number | undefined;
  /** Nothing older; wall time. */
  readonly sinceMs: number | undefined;
  readonly limitBytes: number | undefined;
}

export type LogQueryResult =
  | { readonly query: LogQuery; readonly problem: undefined }
  | { readonly query: undefined; readonly problem: string };

export function parseLogQuery(parameters: URLSearchParams, nowMs: number): LogQueryResult {
  const problems: string[] = [];
  const number = (name: string, least: number): number | undefined => {
    const text = parameters.get(name);
    if (text === null || text === '') return undefined;
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && Number.isSafeInteger(value)) return value;
    problems.push(`${name}: Invalid value: "${text}": must be an integer of at least ${least}`);
    return undefined;
  };
  const flag = (name: string): boolean => {
    const text = parameters.get(name);
    if (text === null || text === 'false' || text === '0') return false;
    if (text === '' || text === 'true' || text === '1') return true;
    problems.push(`${name}: Invalid value: "${text}": must be true or false`);
    return false;
  };
  const sinceSeconds = number('sinceSeconds', 1);
  const sinceText = parameters.get('sinceTime');
  const sinceTime = sinceText === null ? undefined : Date.parse(sinceText);
  if (sinceTime !== undefined && Number.isNaN(sinceTime)) {
    problems.push(`sinceTime: Invalid value: "${sinceText}": must be a time in RFC 3339`);
  }
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    problems.push('sinceTime, sinceSeconds: at most one of them may be given');
  }
  const query: LogQuery = {
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    tailLines: number('tailLines', 0),
    sinceMs: sinceSeconds === undefined ? sinceTime : nowMs - sinceSeconds * 1000,
    limitBytes: number('limitBytes', 1),
  };
  if (problems.length > 0) return { query: undefined, problem: problems.join(', ') };
  return { query, problem: undefined };
}
