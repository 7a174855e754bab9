/** An alert of Prometheus. */
export interface Alert {
  readonly name: string;
  /** `NAMESPACE` stands for the operator's namespace. */
  readonly expression: string;
  readonly forMinutes: number;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
  readonly description: string;
}
