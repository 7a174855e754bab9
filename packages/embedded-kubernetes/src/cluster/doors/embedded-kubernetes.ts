/**
 * The main door of the embedded Kubernetes: a whole cluster on this machine, or nodes of this machine
 * that join another cluster. Other packages import only the files of this folder. Each of them exports
 * only what somebody imports.
 */
export {
  ADMINISTRATORS,
  type EmbeddedClusterOptions,
  startEmbeddedCluster,
} from '../embedded-cluster.ts';
export { joinNodes } from '../joined-nodes.ts';
export type { LocalNodesOptions, NodeDescription } from '../local-nodes.ts';
export { MARKER_VARIABLE } from '../node/container/container-launch.ts';
export { HOST_ROOT } from '../node/namespaces/root-plan.ts';
export type { PodNamespacesMode } from '../node/ports/pod-namespaces.ts';
