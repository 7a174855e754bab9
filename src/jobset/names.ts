/**
 * The one table of names of the JobSet API and of the in-place restart protocol
 * (`docs/reference/names.md` explains them). No other file spells these strings.
 */
export const JOBSET_API_VERSION = 'jobset.x-k8s.io/v1alpha2';

/** Labels and annotations on every child Job and on its Pod template. */
export const JOBSET_NAME = 'jobset.sigs.k8s.io/jobset-name';
export const JOBSET_UID = 'jobset.sigs.k8s.io/jobset-uid';
export const REPLICATED_JOB_NAME = 'jobset.sigs.k8s.io/replicatedjob-name';
export const REPLICATED_JOB_REPLICAS = 'jobset.sigs.k8s.io/replicatedjob-replicas';
export const GLOBAL_REPLICAS = 'jobset.sigs.k8s.io/global-replicas';
export const JOB_INDEX = 'jobset.sigs.k8s.io/job-index';
export const JOB_GLOBAL_INDEX = 'jobset.sigs.k8s.io/job-global-index';
export const JOB_KEY = 'jobset.sigs.k8s.io/job-key';
export const RESTART_ATTEMPT = 'jobset.sigs.k8s.io/restart-attempt';
/** Attempt of one Job alone: `replicatedJobsStatus[].jobRestarts` at its creation. */
export const JOB_RESTART_ATTEMPT = 'jobset.sigs.k8s.io/job-restart-attempt';
export const GROUP_NAME = 'jobset.sigs.k8s.io/group-name';
export const GROUP_REPLICAS = 'jobset.sigs.k8s.io/group-replicas';
export const JOB_GROUP_INDEX = 'jobset.sigs.k8s.io/job-group-index';
export const COORDINATOR = 'jobset.sigs.k8s.io/coordinator';

/** Annotation of Jobs and Pods: `status.executionAttempts` at their creation (KEP-1282). */
export const EXECUTION_ATTEMPT = 'jobset.sigs.k8s.io/execution-attempt';

/** Annotation of a JobSet or a Job template: the node label; each Job gets one of its values. */
export const EXCLUSIVE_TOPOLOGY = 'alpha.jobset.sigs.k8s.io/exclusive-topology';
/** Used with it: nodes were labelled by hand, so a node selector replaces affinity. */
export const NODE_SELECTOR_STRATEGY = 'alpha.jobset.sigs.k8s.io/node-selector';
/** Node label of that strategy: `<namespace>_<job>`; and the taint of such nodes. */
export const NAMESPACED_JOB = 'alpha.jobset.sigs.k8s.io/namespaced-job';
export const NO_SCHEDULE = 'alpha.jobset.sigs.k8s.io/no-schedule';
/** Pod label: the Pod's priority, within which topologies are exclusive. */
export const PRIORITY = 'jobset.sigs.k8s.io/priority';

/** Value of `spec.managedBy` that means the controller of kubernetes-sigs/jobset, or its successor. */
export const MANAGED_BY_JOBSET = 'jobset.sigs.k8s.io/jobset-controller';
/** Value of `spec.managedBy` that means Lockstep, even beside that controller. */
export const MANAGED_BY_LOCKSTEP = 'lockstep/jobset-controller';

/** Pod annotation: the epoch that the Pod's agent announces, int32 as text. */
export const EPOCH = 'jobset.sigs.k8s.io/epoch';
/** Upstream's annotation for it: an attempt, which is an epoch - 1. */
export const IN_PLACE_RESTART_ATTEMPT = 'jobset.sigs.k8s.io/in-place-restart-attempt';
/**
 * Pod annotation `<epoch>:<n>`: how often the agent has started for that epoch
 * (`docs/design/member-hazards.md#containers-crash-before-the-barrier`).
 */
export const AGENT_STARTS = 'lockstep/agent-starts';
/** JobSet annotation: if present, all barriers open and no epoch ends any more. */
export const DISABLE_IN_PLACE_RESTART = 'jobset.sigs.k8s.io/disable-in-place-restart';

/** Pod annotation, API channel: the epoch in which the agent was told to stop (early notice). */
export const NOTICE = 'lockstep/notice';
/** JobSet annotation: `Auto` (default), `Sidecar` or `Supervisor`. */
export const RESTART_MODE = 'lockstep/restart-mode';
/** JobSet annotation: `Disabled` leaves the Pod templates without an injected agent. */
export const AGENT_INJECTION = 'lockstep/agent-injection';
/** JobSet annotation: how agents reach the operator, `Hub`, `Auto` or `API`. */
export const AGENT_CHANNEL = 'lockstep/agent-channel';
/** Pod template annotation: the name of the container that is the template's own agent. */
export const AGENT_CONTAINER = 'lockstep/agent-container';
/** JobSet annotation: `Disabled` restarts a crash-looping group without back-off. */
export const RESTART_BACKOFF = 'lockstep/restart-backoff';
/**
 * JobSet annotation, a duration: how long after its due end a Pod is deleted by force. Pods have it
 * too, as their agents know it
 * (`docs/design/release-hazards.md#a-lost-node-keeps-its-pod-for-ever`).
 */
export const LOST_NODE_DEADLINE = 'lockstep/lost-node-deadline';

/**
 * JobSet annotation: `Off` (default), `Auto`, or the duration without a report of progress after
 * which a worker counts as hung. It may change while the JobSet runs.
 */
export const PROGRESS_TIMEOUT = 'lockstep/progress-timeout';
/** JobSet annotation: `Off` (default) or the duration from the release to the first report. */
export const FIRST_PROGRESS_TIMEOUT = 'lockstep/first-progress-timeout';
/** JobSet annotation: the text before the step in a line that the worker prints (Supervisor). */
export const PROGRESS_PREFIX = 'lockstep/progress-prefix';
/**
 * JobSet annotation: `Warm` keeps a second process of the worker's command, which has prepared
 * itself and waits for the next epoch (Supervisor).
 */
export const STANDBY = 'lockstep/standby';
/**
 * JobSet annotation: how many ranks a supervising agent starts in each Pod, such as `8`, or
 * `workers=8,driver=1` by ReplicatedJob. It cannot change.
 */
export const PROCESSES_PER_POD = 'lockstep/processes-per-pod';
/** JobSet annotation: `Off` leaves the lines of ranks without the number of their rank. */
export const LOG_PREFIX = 'lockstep/log-prefix';
/** JobSet annotation: a command that looks into a hung worker before it is ended. */
export const HANG_COMMAND = 'lockstep/hang-command';
/** JobSet annotation: a command that checks the machine after a worker that failed (Supervisor). */
export const PREFLIGHT = 'lockstep/preflight';
/** JobSet annotation: `All` (default), `Files`, which leaves standard error alone, or `Off`. */
export const LAST_WORDS = 'lockstep/last-words';
/** JobSet annotation, a duration: how long the Pods of a failed JobSet stay. */
export const KEEP_FAILED = 'lockstep/keep-failed';
/** JobSet annotation, a duration: from SIGTERM to SIGKILL for workers that an agent stops. */
export const STOP_GRACE = 'lockstep/stop-grace';
/**
 * JobSet annotation: `Off` (default), or such as `3/1h`, after which a failing member leaves its
 * node. The label of that name, value `true`, is on Pods that may have to keep away from nodes.
 */
export const REPLACE_AFTER = 'lockstep/replace-after';
/** JobSet annotation: it fails after this many charged restarts without a newer checkpoint. */
export const MAX_RESTARTS_WITHOUT_PROGRESS = 'lockstep/max-restarts-without-progress';
/** JobSet annotation: the epoch to end, if it is the current one and was released. */
export const RESTART_EPOCH = 'lockstep/restart-epoch';
/** JobSet annotation: entries of `status.avoidedNodes` to take away, each as `NODE@TIME`. */
export const FORGET_NODES = 'lockstep/forget-nodes';
/**
 * JobSet annotations for users who cannot write the fields: they set `restartStrategy` and
 * `maxRestarts` of `spec.failurePolicy`.
 */
export const RESTART_STRATEGY = 'lockstep/restart-strategy';
export const MAX_RESTARTS = 'lockstep/max-restarts';
/** JobSet annotation: restarts that are allowed beside `maxRestarts`; 0 by default. */
export const EXTRA_RESTARTS = 'lockstep/extra-restarts';

/** Label of the Pods of `lockstep doctor --probe`. */
export const DOCTOR = 'lockstep/doctor';

/** Label of a JobSet that Kueue admits, and the annotation that it used before. */
export const KUEUE_QUEUE_NAME = 'kueue.x-k8s.io/queue-name';

/** Prefix of our own annotations; `annotations/table.ts` says which users may set. */
export const OWN_PREFIX = 'lockstep/';

/** Environment of the agent. */
export const ENV_NAMESPACE = 'NAMESPACE';
export const ENV_POD_NAME = 'POD_NAME';
export const ENV_POD_UID = 'POD_UID';
export const ENV_POD_IP = 'POD_IP';
export const ENV_JOBSET_NAME = 'JOBSET_NAME';
export const ENV_JOBSET_UID = 'JOBSET_UID';
export const ENV_REPLICATED_JOB_NAME = 'REPLICATED_JOB_NAME';
export const ENV_EXIT_CODE = 'RESTART_POD_IN_PLACE_EXIT_CODE';
/** Directory of the agent's marker file, a mount of an emptyDir. */
export const ENV_MARKER_DIRECTORY = 'LOCKSTEP_MARKER_DIRECTORY';
/** The worker container's own restart rules as JSON, for a supervising agent. */
export const ENV_RESTART_RULES = 'LOCKSTEP_RESTART_RULES';
/** Seconds between SIGTERM and SIGKILL when a supervising agent stops its worker. */
export const ENV_STOP_GRACE_SECONDS = 'LOCKSTEP_STOP_GRACE_SECONDS';
/** The path of the file in which a worker reports its progress; its agent reads it. */
export const ENV_PROGRESS_FILE = 'LOCKSTEP_PROGRESS_FILE';
/** `1` for a worker: its agent reads `$LOCKSTEP_PROGRESS_FILE.<LOCAL_RANK>` too. */
export const ENV_RANK_FILES = 'LOCKSTEP_RANK_FILES';
/** The text before the step in a line that a supervised worker prints. */
export const ENV_PROGRESS_PREFIX = 'LOCKSTEP_PROGRESS_PREFIX';
/** `Warm`: a supervising agent keeps a standby of its worker. */
export const ENV_STANDBY_MODE = 'LOCKSTEP_STANDBY_MODE';
/** A line of shell that looks into a hung worker. */
export const ENV_HANG_COMMAND = 'LOCKSTEP_HANG_COMMAND';
/** A line of shell that checks the machine after a worker that failed. */
export const ENV_PREFLIGHT = 'LOCKSTEP_PREFLIGHT';
/** `Files`: a supervising agent does not read its worker's standard error. */
export const ENV_LAST_WORDS = 'LOCKSTEP_LAST_WORDS';
/** The container's `terminationMessagePath`, if it is not the default. */
export const ENV_TERMINATION_MESSAGE_PATH = 'LOCKSTEP_TERMINATION_MESSAGE_PATH';
/** The duration after which a Pod that the operator cannot reach may count as dead. */
export const ENV_LOST_NODE_DEADLINE = 'LOCKSTEP_LOST_NODE_DEADLINE';
/** How many processes of the worker's command a supervising agent starts, 1 to 64. */
export const ENV_PROCESSES_PER_POD = 'LOCKSTEP_PROCESSES_PER_POD';
/** The index of the Pod's Job in its ReplicatedJob, for an agent that starts ranks. */
export const ENV_JOB_INDEX = 'LOCKSTEP_JOB_INDEX';
/** Kubernetes sets it in each container of an Indexed Job: the index of the Pod in its Job. */
export const ENV_COMPLETION_INDEX = 'JOB_COMPLETION_INDEX';
/** `Off`: a supervising agent that starts ranks puts no prefix before their lines. */
export const ENV_LOG_PREFIX = 'LOCKSTEP_LOG_PREFIX';
/** Directory that stands for `/` if a node has no mount namespaces (the embedded cluster). */
export const ENV_ROOT = 'LOCKSTEP_ROOT';
/** The Pod's address, if `POD_IP` is not set (the embedded cluster). */
export const ENV_EMBEDDED_POD_IP = 'LOCKSTEP_POD_IP';
/**
 * Followed by a declared containerPort: the port to listen on instead if Pods share an address (the
 * embedded cluster without loopback addresses of its own).
 */
export const ENV_PORT_PREFIX = 'LOCKSTEP_PORT_';

/** The hub's address, `https://HOST:PORT`; without it the agent uses the API server alone. */
export const ENV_HUB_URL = 'LOCKSTEP_HUB_URL';
/** PEM: the authorities of the hub's certificate. */
export const ENV_HUB_CA = 'LOCKSTEP_HUB_CA';
/** `Hub` alone, or `Auto`, the agent's default: the hub, or else the API server. */
export const ENV_AGENT_CHANNEL = 'LOCKSTEP_AGENT_CHANNEL';

/** Names, separated by commas: variables of a supervising agent that its worker does not see. */
export const ENV_AGENT_VARIABLES = 'LOCKSTEP_AGENT_VARIABLES';

/** Variable that a supervising agent sets for its worker: the epoch in which it runs. */
export const ENV_EPOCH = 'LOCKSTEP_EPOCH';
/** Variable of a rank that a supervising agent started: how many it started in this Pod. */
export const ENV_PROCESSES = 'LOCKSTEP_PROCESSES';
/** Another one, unique for each start: by it the agent finds descendants of an ended worker. */
export const ENV_WORKER = 'LOCKSTEP_WORKER';
/** Variable of a worker with warm standbys: the file that it waits for before it begins. */
export const ENV_START_FILE = 'LOCKSTEP_START_FILE';
/** Variable of a process that was started as a standby: `1`. It has no `LOCKSTEP_EPOCH`. */
export const ENV_STANDBY = 'LOCKSTEP_STANDBY';
/** Launchers number the ranks of a Pod, and the ranks of all Pods. */
export const ENV_LOCAL_RANK = 'LOCAL_RANK';
export const ENV_RANK = 'RANK';
/** Variable of the command that looks into a hung worker: the process id of the worker. */
export const ENV_WORKER_PID = 'LOCKSTEP_WORKER_PID';
/** PyTorch: the file into which `@record` writes the traceback of a failed process. */
export const ENV_TORCH_ERROR_FILE = 'TORCHELASTIC_ERROR_FILE';
/**
 * Prefix of a worker's variable that the supervising agent would obey itself, such as
 * `NODE_OPTIONS`: the worker gets it under its own name.
 */
export const ENV_FOR_WORKER_PREFIX = 'LOCKSTEP_FOR_WORKER_';

/** Upstream's name of `RESTART_POD_IN_PLACE_EXIT_CODE`; a container that has it is an agent. */
export const UPSTREAM_ENV_EXIT_CODE = 'IN_PLACE_RESTART_EXIT_CODE';
/** An agent with one of these speaks the canonical dialect; upstream's has none of them. */
export const ONLY_CANONICAL_ENV = [ENV_NAMESPACE, ENV_JOBSET_UID, ENV_EXIT_CODE] as const;

/** Upstream: the worker as a line of shell, which makes the agent a supervisor. */
export const UPSTREAM_ENV_WORKER_COMMAND = 'WORKER_COMMAND';
/** Upstream: the path of the sidecar's startup probe. */
export const UPSTREAM_ENV_PROBE_PATH = 'STARTUP_PROBE_PATH';
export const UPSTREAM_ENV_PROBE_PORT = 'STARTUP_PROBE_PORT';
export const UPSTREAM_DEFAULT_RESTART_EXIT_CODE = 1;
export const UPSTREAM_BARRIER_PORT = 8081;
export const UPSTREAM_BARRIER_PATH = '/barrier-is-down';

export const DEFAULT_RESTART_EXIT_CODE = 113;
export const BARRIER_PORT = 8080;
export const BARRIER_PATH = '/barrier-is-lifted';

export const AGENT_CONTAINER_NAME = 'lockstep-agent';
/** The name of the agent in upstream's examples. */
export const UPSTREAM_AGENT_CONTAINER_NAME = 'in-place-restart-agent';
/** The program of the agent in every image that holds it, and on the embedded node's PATH. */
export const AGENT_COMMAND = 'lockstep-agent';

/**
 * The directory for an agent that its worker's image lacks, and the container that puts it there.
 */
export const AGENT_DIRECTORY = '/opt/lockstep-agent';
export const AGENT_FILES_VOLUME_NAME = 'lockstep-agent-files';
export const AGENT_INSTALL_CONTAINER_NAME = 'lockstep-agent-install';
/** Followed by a directory: the agent copies itself there, and ends. */
export const AGENT_INSTALL_FLAG = '--install';
/** Lets the agent report what it reaches from its Pod. */
export const AGENT_PROBE_FLAG = '--probe';

/**
 * Appended to a JobSet's name: the Role and RoleBinding of its agents, and the service account that
 * earlier versions made for them.
 */
export const AGENT_ACCOUNT_SUFFIX = '-lockstep-agent';

/** The emptyDir that keeps the agent's marker through restarts in place, and its mount path. */
export const MARKER_VOLUME_NAME = 'lockstep-marker';
export const MARKER_DIRECTORY = '/var/run/lockstep';
/** The emptyDir of a Pod with a sidecar in which its worker reports progress, and its path. */
export const PROGRESS_VOLUME_NAME = 'lockstep-progress';
export const PROGRESS_DIRECTORY = '/var/run/lockstep-progress';
/** The token of an agent whose Pod does not mount one by itself. */
export const AGENT_TOKEN_VOLUME_NAME = 'lockstep-agent-token';
export const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The token by which an agent proves its Pod to the hub, and its audience. */
export const HUB_TOKEN_VOLUME_NAME = 'lockstep-hub-token';
export const HUB_TOKEN_DIRECTORY = '/var/run/secrets/lockstep-hub';
export const HUB_AUDIENCE = 'lockstep-hub';
/**
 * The ConfigMap of a namespace with the current authorities of the hub's certificate, and their key
 * in it, which is also the name of the file beside the token.
 */
export const HUB_AUTHORITIES_NAME = 'lockstep-hub-authorities';
export const HUB_AUTHORITIES_KEY = 'ca.crt';
/** The path of the hub, and the protocol to which connections are upgraded there. */
export const HUB_PATH = '/hub';
/** The path under which a member's token reads all members, see `MemberReport`. */
export const HUB_MEMBERS_PATH = '/hub/members';
/** The path under which a member's token reads all groups of its namespace, see `GroupReport`. */
export const HUB_GROUPS_PATH = '/hub/groups';
export const HUB_PROTOCOL = 'lockstep-hub/1';
/**
 * Where an agent with a hub shows both pages: on loopback of its Pod, at this port, below these paths
 * by UID of its JobSet.
 */
export const MEMBER_PAGE_PORT = 27_446;
export const MEMBER_PAGE_PATH = '/members';
export const GROUP_PAGE_PATH = '/groups';
