import type { Condition, KubeObject, StringMap } from '../meta.ts';
import { type Resource, resource } from '../resource.ts';

/** `core/v1 Node`. */
export interface Node extends KubeObject {
  readonly spec?: {
    readonly taints?: readonly Taint[];
    readonly unschedulable?: boolean;
    readonly podCIDR?: string;
  };
  readonly status?: {
    readonly capacity?: StringMap;
    readonly allocatable?: StringMap;
    readonly conditions?: readonly (Partial<Condition> &
      Pick<Condition, 'type' | 'status'> & { readonly lastHeartbeatTime?: string })[];
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo?: Readonly<Record<string, string>>;
    /** Names of the `kubelet` features that this node offers (KEP-5328). */
    readonly declaredFeatures?: readonly string[];
    /** The port where the API server reaches the node agent, for logs and streams. */
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port: number } };
  };
}
export const NODES: Resource<Node> = resource('v1', 'nodes', 'Node', 'Cluster');

/** Whether the node's agent reported it as ready, and has not been silent since. */
export function isReady({ status }: Node): boolean {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
}

/** Set on a node that has been silent for too long. */
export const UNREACHABLE_TAINT = 'node.kubernetes.io/unreachable';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  /** When the taint was added; for effect `NoExecute` only. */
  readonly timeAdded?: string;
}
