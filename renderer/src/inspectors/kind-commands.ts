import type { ServiceView } from "../../../contract/service.ts";
import type { Detail, DetailKind } from "../../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import type { ControlClient } from "../control/control-client.ts";
import { FailureError } from "../control/failure-error.ts";

type OfKind<Kind extends DetailKind> = Extract<Detail, { readonly kind: Kind }>;

/** Commands for rows whose detail is of one kind. */
export interface KindCommands<Kind extends DetailKind> {
  /** `title` is the format of the copy: "curl". */
  readonly copies: readonly {
    readonly title: string;
    readonly text: (detail: OfKind<Kind>, service: ServiceView, client: ControlClient) => string | Promise<string>;
  }[];
  /** "path": what `TrafficRow.target` is. */
  readonly target: string;
  /** Sends it again; resolves with the result as text. */
  readonly resend?: {
    readonly title: string;
    readonly run: (client: ControlClient, detail: OfKind<Kind>, service: ServiceView) => Promise<string>;
  };
  /** Opens it in the service's Try tab, to be edited and sent from there. */
  readonly openInTry?: (detail: OfKind<Kind>, row: TrafficRow) => void;
}

/** One entry for each kind that a service records. */
export type RowCommands = { readonly [Kind in DetailKind]?: KindCommands<Kind> };

/** Why a recorded row cannot be sent again. */
export const notWhole = (why: string, hint = "Send it from Try, with what is missing."): FailureError =>
  new FailureError({ code: "CALL_INVALID", message: `It cannot be sent again. ${why}`, hint });

/** Why a recorded row cannot be copied as a command. */
export const notCopied = (why: string, hint: string): FailureError =>
  new FailureError({ code: "CALL_INVALID", message: `It cannot be copied. ${why}`, hint });

/** Why a recorded row cannot be opened in Try. */
export const notForTry = (why: string, hint = "Copy it from its row, or send it again."): FailureError =>
  new FailureError({ code: "CALL_INVALID", message: `It cannot be opened in Try. ${why}`, hint });

/** The hint for what was recorded in part only; `setting` is a title. */
export const keepsMore = (setting: string): string => `A larger “${setting}” in Config keeps more of the next ones.`;

/** Rows that no longer exist. */
export const notKept = (): FailureError =>
  new FailureError({ code: "CALL_INVALID", message: "It is no longer kept", hint: "Newer rows replaced it, or the list was cleared." });
