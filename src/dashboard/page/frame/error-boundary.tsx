/** A view that throws says what broke, and the rest of the page stays. */
import { Component, type ComponentChildren } from 'preact';
import { shown } from '../elements/shown-text.ts';

export interface ErrorBoundaryProps {
  /** What is in it, as the beginning of a sentence: `The list of JobSets`. */
  readonly what: string;
  readonly children: ComponentChildren;
}

interface ErrorBoundaryState {
  readonly error: string | null;
}

export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override state: ErrorBoundaryState = { error: null };

  static override getDerivedStateFromError(error: unknown): ErrorBoundaryState {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }

  override render(): ComponentChildren {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <section class="broken" role="alert">
        <h2>{this.props.what} cannot be shown.</h2>
        <p>This is a mistake of the dashboard, and your JobSets do not notice it. What broke:</p>
        <pre class="mono">{error.split('\n').map((line) => `${shown(line)}\n`)}</pre>
        <button type="button" class="button" onClick={() => this.setState({ error: null })}>
          Try again
        </button>
      </section>
    );
  }
}
