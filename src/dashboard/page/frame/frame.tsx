/** What stands around every view: who we are, which cluster it is, and what is missing. */
import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { CLUSTER, type ClusterView } from '../../messages/paths.ts';
import { after } from '../adapters/browser.ts';
import { getJson } from '../adapters/session.ts';
import { shown } from '../elements/shown-text.ts';
import { clockText, zoneText } from '../elements/time-text.ts';
import type { Streamed } from '../use-stream.ts';
import { KeysButton, PLAYER_KEYS } from './keys.tsx';
import { Said, Saying } from './said.tsx';
import { ThemeSwitch } from './theme.tsx';

/** What a view tells of itself. */
export interface Headline extends Omit<Streamed<never>, 'state'> {
  /** What the browser's tab says. */
  readonly title: string;
  readonly problems: readonly string[];
}

const NOTHING_TOLD: Headline = {
  title: '',
  isOpen: false,
  lostSinceMs: null,
  trouble: null,
  problems: [],
};

const Told = createContext<(headline: Headline) => void>(() => undefined);

/** Tells the frame what the view that is shown is about. */
export function useHeadline({ title, isOpen, lostSinceMs, trouble, problems }: Headline): void {
  const tell = useContext(Told);
  useEffect(
    () => tell({ title, isOpen, lostSinceMs, trouble, problems }),
    [tell, title, isOpen, lostSinceMs, trouble, problems],
  );
}

export interface FrameProps {
  /** Another one: another view is shown, and the focus goes to its heading. */
  readonly view: string;
  /** The page plays a trace, and is not live. */
  readonly isTrace: boolean;
  readonly children: ComponentChildren;
}

export function Frame({ view, isTrace, children }: FrameProps) {
  const [headline, tell] = useState(NOTHING_TOLD);
  const [said, show] = useState({ text: '' });
  const say = useCallback((text: string) => show({ text }), []);
  const main = useRef<HTMLElement>(null);
  const before = useRef(view);
  useEffect(() => {
    if (before.current === view) return;
    before.current = view;
    scrollTo(0, 0);
    (main.current?.querySelector('h1') ?? main.current)?.focus();
  }, [view]);
  useEffect(() => {
    document.title = headline.title === '' ? 'Lockstep' : `${shown(headline.title)} · Lockstep`;
  }, [headline.title]);
  const toMain = (event: Event): void => {
    // The address says which view is shown.
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <Told.Provider value={tell}>
      <a class="skip-link" href="#main" onClick={toMain}>
        Skip to the content
      </a>
      <header class="header">
        {isTrace ? (
          <span class="brand">
            <Mark />
            Lockstep
          </span>
        ) : (
          <a class="brand" href="#/">
            <Mark />
            Lockstep
          </a>
        )}
        <Cluster />
        <Connection {...headline} isTrace={isTrace} />
        <div class="header-tools">
          <ThemeSwitch />
          <KeysButton keys={isTrace ? PLAYER_KEYS : undefined} />
        </div>
      </header>
      <Problems {...headline} />
      <main class="main" id="main" tabindex={-1} ref={main}>
        <Saying.Provider value={say}>{children}</Saying.Provider>
      </main>
      <Said said={said} close={() => say('')} />
    </Told.Provider>
  );
}

/** Workers in one line, and one that joins them. */
function Mark() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" fill="currentColor" aria-hidden="true">
      <rect x="1" y="4" width="4" height="12" rx="1.5" />
      <rect x="8" y="4" width="4" height="12" rx="1.5" />
      <rect x="15" y="4" width="4" height="12" rx="1.5" />
      <rect x="1" y="9" width="18" height="2" />
    </svg>
  );
}

/** Pause before a cluster that did not answer is asked again for its name. */
const ASK_AGAIN_MS = 5000;

function Cluster() {
  const [cluster, show] = useState<ClusterView | null>(null);
  const [attempt, ask] = useState(0);
  useEffect(() => {
    let isOver = false;
    let cancel = (): void => undefined;
    getJson<ClusterView>(CLUSTER).then(
      (answer) => isOver || show(answer),
      () => {
        if (!isOver) cancel = after(ASK_AGAIN_MS, () => ask(attempt + 1));
      },
    );
    return () => {
      isOver = true;
      cancel();
    };
  }, [attempt]);
  if (cluster === null) return <p class="cluster" />;
  const { context, server, serverVersion } = cluster;
  const version = serverVersion === null ? '' : `, Kubernetes ${shown(serverVersion)}`;
  return (
    <p class="cluster" title={`${shown(server)}${version}`}>
      <b>
        {serverVersion !== null && <span class="visually-hidden">Context </span>}
        {shown(context)}
      </b>
      <span>{shown(server)}</span>
    </p>
  );
}

function zoneOf(ms: number): string {
  return zoneText(new Date(ms).getTimezoneOffset());
}

/** A region that is always there: screen readers tell what changes in it. */
function Connection({
  isOpen,
  isTrace,
  lostSinceMs,
  trouble,
}: Headline & Pick<FrameProps, 'isTrace'>) {
  const what = trouble === null ? 'The server does not answer' : 'The server refuses';
  const [word, text] =
    lostSinceMs !== null
      ? ['is-lost', `${what}, since ${clockText(lostSinceMs)} ${zoneOf(lostSinceMs)}`]
      : isOpen
        ? isTrace
          ? ['is-waiting', 'Recorded']
          : ['is-live', 'Live']
        : ['is-waiting', 'Connecting'];
  return (
    <p class={`connection ${word}`} role="status" aria-live="polite">
      {text}
    </p>
  );
}

function Problems({ trouble, problems: told }: Headline) {
  const problems = trouble === null ? told : [trouble, ...told];
  return (
    <div aria-live="polite">
      {problems.length > 0 && (
        <section class="notices" aria-label="What is missing">
          <h2>Not everything is shown.</h2>
          <ul>
            {problems.map((problem) => (
              <li key={problem}>{shown(problem)}</li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
