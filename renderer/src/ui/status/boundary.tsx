import { Button } from "@mantine/core";
import { Component, type ErrorInfo, type ReactNode } from "react";
import { useControl } from "../../control/client-context.tsx";
import { EmptyState } from "./empty-state.tsx";

/** As many characters as the call takes. */
const longestFault = 2_000;

interface BoundaryProps {
  /** What failed, for the log: "page http", "inspector". */
  readonly region: string;
  readonly children: ReactNode;
}

/** A fault while this region is rendered leaves the others working. It is shown in its place and written to Backlot's log. */
export function Boundary({ region, children }: BoundaryProps) {
  const client = useControl();
  const report = (error: Error, { componentStack }: ErrorInfo) => {
    const message = `${error.message}\n${error.stack ?? ""}\n${componentStack ?? ""}`.slice(0, longestFault);
    // Without a connection there is no log to write to; the browser's console has the fault already.
    client.call("page.fault", { region, message }).catch(() => {});
  };
  return (
    <FaultCatcher region={region} onFault={report}>
      {children}
    </FaultCatcher>
  );
}

interface FaultCatcherProps extends BoundaryProps {
  readonly onFault: (error: Error, info: ErrorInfo) => void;
}

class FaultCatcher extends Component<FaultCatcherProps, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidCatch(error: Error, info: ErrorInfo) {
    this.props.onFault(error, info);
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <EmptyState title="This part of the window failed" text={`${error.message} The log has the details.`}>
        <Button onClick={() => this.setState({ error: undefined })}>Show it again</Button>
      </EmptyState>
    );
  }
}
