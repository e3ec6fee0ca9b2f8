import type { SessionState, TokenState } from "../../../../contract/services/account.ts";
import { Mark, type Shape, StatusShape } from "../../ui/status/status-shape.tsx";

type Meaning = { readonly shape: Shape; readonly tone: "ok" | "warn" | "bad" | "idle" };

function meaningOf(state: UserState | SessionState | TokenState): Meaning {
  switch (state) {
    case "active":
    case "live":
      return { shape: "running", tone: "ok" };
    case "waiting for code":
      return { shape: "pending", tone: "warn" };
    case "revoked":
      return { shape: "failed", tone: "bad" };
    case "disabled":
    case "expired":
    case "used":
    case "ended":
      return { shape: "stopped", tone: "idle" };
    default:
      return state satisfies never;
  }
}

export type UserState = "active" | "disabled";
export const userState = ({ enabled }: { readonly enabled: boolean }): UserState => (enabled ? "active" : "disabled");

/** Its shape and its word. */
export function StateMark({
  state,
  title,
}: {
  readonly state: UserState | SessionState | TokenState;
  readonly title?: string | undefined;
}) {
  const { shape, tone } = meaningOf(state);
  return (
    <Mark tone={tone} icon={<StatusShape shape={shape} />} title={title}>
      {state}
    </Mark>
  );
}
