import { Button } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { EmptyState } from "../ui/empty-state.tsx";

/** A fault in one page leaves the frame and the other pages working. */
export class PageBoundary extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    if (!this.state.error) return this.props.children;
    return (
      <EmptyState title="This page met a fault in Backlot" text={this.state.error.message}>
        <Button onClick={() => this.setState({ error: undefined as never })}>Show it again</Button>
      </EmptyState>
    );
  }
}
