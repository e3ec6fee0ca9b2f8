import { Button } from "@mantine/core";
import { Component, createContext, type ErrorInfo, type ReactNode, useContext } from "react";
import { useControl } from "../../control/client-context.tsx";
import styles from "./boundary.module.css";
import { EmptyState } from "./empty-state.tsx";

/** Most characters that the call accepts. */
const longestFault = 2_000;

interface BoundaryProps {
  /** What failed, for the log: "page http", "inspector". */
  readonly region: string;
  /** What the region shows: after a fault, a different value is rendered again, in nested regions too. */
  readonly shows?: unknown;
  /** A bar with room for one line. */
  readonly line?: boolean;
  readonly children: ReactNode;
}

const ShownContext = createContext<unknown>(undefined);

/** An error while rendering this region does not affect the others. It is shown in place and written to Backlot's log. */
export function Boundary({ region, children, ...rest }: BoundaryProps) {
  const client = useControl();
  const report = (error: Error, { componentStack }: ErrorInfo) => {
    const message = `${error.message}\n${error.stack ?? ""}\n${componentStack ?? ""}`.slice(0, longestFault);
    // Fails without a connection; the browser's console has the error already.
    client.call("page.fault", { region, message }).catch(() => {});
  };
  const around = useContext(ShownContext);
  const { shows = around, line = false } = rest;
  return (
    <FaultCatcher shows={shows} line={line} onFault={report}>
      <ShownContext value={shows}>{children}</ShownContext>
    </FaultCatcher>
  );
}

interface FaultCatcherProps {
  readonly shows: unknown;
  readonly line: boolean;
  readonly children: ReactNode;
  readonly onFault: (error: Error, info: ErrorInfo) => void;
}

interface FaultCatcherState {
  readonly error: Error | undefined;
  /** The `shows` value at the time of the fault. */
  readonly shown: unknown;
}

class FaultCatcher extends Component<FaultCatcherProps, FaultCatcherState> {
  override state: FaultCatcherState = { error: undefined, shown: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps({ shows }: FaultCatcherProps, { shown }: FaultCatcherState) {
    return shows === shown ? null : { error: undefined, shown: shows };
  }

  override componentDidCatch(error: Error, info: ErrorInfo) {
    this.props.onFault(error, info);
  }

  override render() {
    const { children, line } = this.props;
    const { error } = this.state;
    if (!error) return children;
    const button = <Button onClick={() => this.setState({ error: undefined })}>Show it again</Button>;
    if (line) {
      return (
        <div className={styles.line} role="alert">
          <span title={error.message}>This part of the window failed. The log has the details.</span>
          {button}
        </div>
      );
    }
    return (
      <div className={styles.block} role="alert">
        <EmptyState title="This part of the window failed" text={`${error.message} The log has the details.`}>
          {button}
        </EmptyState>
      </div>
    );
  }
}
