/**
 * What things cost in the simulated run. Each figure says whether it was measured, and with which
 * command, or assumed, and from which source. `docs/reference/performance.md#effective-training-time`
 * repeats them for readers.
 */

/** Members that are simulated; the costs below add what the others need. */
export const SIMULATED_MEMBERS = 64;
/** Each has 8 GPUs. */
export const PODS = 2048;

/**
 * Measured: from a failure to the last release, with 64 agents by `npm run bench -- --suite
 * fail-over` (a restart in peace), with 2,000 by `npm run bench -- --suite hub`.
 */
const AGREEMENT_MS = { simulated: 45, all: 191 } as const;
/** A restart is six messages and writes in a row: announce, end, stop, announce, release, start. */
export const LEG_MS = AGREEMENT_MS.simulated / 6;
/** What more members add, most of it on the way to them. */
export const FAN_OUT_MS = AGREEMENT_MS.all - AGREEMENT_MS.simulated;

/**
 * Measured with the embedded cluster's Job controller: Pods created, and ended and counted, per
 * second, `npm run bench -- --suite job-controller`.
 */
export const PODS_CREATED_PER_SECOND = 3000;
export const PODS_ENDED_PER_SECOND = 1700;
/**
 * Assumed: how long after its creation a Pod runs if its image is on the node. Kubernetes promises
 * this for 99 of 100 Pods (its service level objective of the startup latency of Pods).
 */
export const POD_START_MS = 5000;

/**
 * Measured: release to first step with JAX and 4 workers, `npm run test:frameworks -- -- -t jax`.
 * A cold start took 2 to 6 s.
 */
export const COLD_START_MS = 3500;
/** Measured there, by turns: 0.64 s with a warm standby, 3.87 s without, medians of 5 rounds. */
export const WARM_SHARE = 1 / 6;

/**
 * Derived: 16 million tokens for 405 billion parameters are 3.9e19 operations, and each of 16,384
 * GPUs did some 4e14 a second ("The Llama 3 Herd of Models", table 4).
 */
export const STEP_MS = 6000;
/** Measured: the other workers of JAX and PyTorch end so soon (`docs/frameworks.md`). */
export const PEERS_END_MS = 1000;
/** Assumed: PyTorch's default for NCCL, after which those that wait for a hung worker end. */
export const FRAMEWORK_TIMEOUT_MS = 10 * 60_000;
/** Chosen: ten steps. */
export const PROGRESS_TIMEOUT = '1m';
/** Chosen: after its third failure within an hour, a member leaves its node. */
export const REPLACE_AFTER = '3/1h';
/** Assumed: of 20 nodes one is spare, so that a Pod that is recreated leaves its node as often. */
export const SPARE_SHARE = 1 / 20;
