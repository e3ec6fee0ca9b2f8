import type { Page } from "playwright-core";
import type { DownFrame, UpFrame } from "../../contract/wire.ts";

/** What becomes of an answer: held back until `fail`, failed, replaced, or passed on where undefined. */
export type Treatment =
  | { readonly kind: "late" }
  | { readonly kind: "failing" }
  | { readonly kind: "replaced"; readonly value: unknown }
  | undefined;

export interface Answers {
  /** "traffic.detail", or of an action its service and name: "mqtt client.list". Of the calls to come. */
  treat(call: string, treatment: Treatment): void;
  /** How often it was called. */
  asked(call: string): number;
  /** Whether an answer is held back. */
  held(): boolean;
  /** Answers what was held back with a failure. */
  fail(): void;
}

const failure = { code: "INTERNAL", message: "The test refused this call.", hint: "It was meant to." };

/** Stands between a page and its Backlot. Before the page is opened. */
export async function interceptAnswers(page: Page): Promise<Answers> {
  const treatments = new Map<string, Treatment>();
  const counts = new Map<string, number>();
  const held: (() => void)[] = [];
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer();
    const calls = new Map<number, string>();
    socket.onMessage((message) => {
      const frame = typeof message === "string" ? (JSON.parse(message) as UpFrame) : undefined;
      if (frame?.type === "call") {
        const name = nameOf(frame.name, frame.params);
        calls.set(frame.id, name);
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      server.send(message);
    });
    server.onMessage((message) => {
      const frame = typeof message === "string" ? (JSON.parse(message) as DownFrame) : undefined;
      const treatment = frame?.type === "result" ? treatments.get(calls.get(frame.id) ?? "") : undefined;
      if (frame?.type !== "result" || !treatment) return socket.send(message);
      const { id } = frame;
      const refuse = () => socket.send(JSON.stringify({ type: "failure", id, failure } satisfies DownFrame));
      switch (treatment.kind) {
        case "late":
          return void held.push(refuse);
        case "failing":
          return refuse();
        case "replaced":
          return socket.send(JSON.stringify({ ...frame, value: treatment.value } satisfies DownFrame));
        default:
          return treatment satisfies never;
      }
    });
  });
  return {
    treat: (call, treatment) => void treatments.set(call, treatment),
    asked: (call) => counts.get(call) ?? 0,
    held: () => held.length > 0,
    fail() {
      for (const refuse of held.splice(0)) refuse();
    },
  };
}

function nameOf(name: string, params: unknown): string {
  if (name !== "service.action") return name;
  const { id, action } = params as { readonly id: string; readonly action: string };
  return `${id} ${action}`;
}
