import type { MqttFigures, MqttViews } from "../../../contract/services/mqtt.ts";
import type { Engine } from "../engine/engine.ts";
import type { ClientFaults } from "./client-faults.ts";
import { listClients } from "./client-list.ts";
import type { MessageRecorder } from "./message-recorder.ts";

const intervalMs = 500;
/** While no page receives the views, only each of these intervals counts: a page that is opened after a crash gets the last ones. */
const unwatchedTicks = 4;
const viewedClients = 200;
/** Clients are published while faults may end, and for this time after the last change, until their rates are 0. */
const quietTicks = 8;

type SmallView = Exclude<keyof MqttViews, "sample" | "figures" | "clients" | "repeated">;

export interface PageViewsOptions {
  readonly engine: Engine;
  readonly recorder: MessageRecorder;
  readonly clientFaults: ClientFaults;
  /** Views that are cheap to compute, by name. */
  readonly small: { readonly [Name in SmallView]: () => MqttViews[Name] };
  /** Whether a page receives the views. */
  readonly isWatched: () => boolean;
  readonly view: <Name extends keyof MqttViews>(name: Name, value: MqttViews[Name]) => void;
}

export interface PageViews {
  /** Publishes those that changed, now. */
  showSmall(): void;
  showClients(): void;
  /** Publishes the last state. */
  close(): void;
}

/** Publishes changed views: twice a second while a page receives them, on request, and at the end. */
export function startPageViews({ engine, recorder, clientFaults, small, isWatched, view }: PageViewsOptions): PageViews {
  const shown = new Map<keyof MqttViews, string>();

  /** Values at the last publication. */
  function changed(name: keyof MqttViews, value: unknown): boolean {
    const text = JSON.stringify(value);
    if (shown.get(name) === text) return false;
    shown.set(name, text);
    return true;
  }

  function showIfChanged<Name extends SmallView>(name: Name): void {
    const value = small[name]();
    if (changed(name, value)) view(name, value);
  }

  function showSmall(): void {
    for (const name of Object.keys(small) as SmallView[]) showIfChanged(name);
  }

  function showClients(): void {
    view("clients", listClients(engine, clientFaults, { offset: 0, limit: viewedClients }));
  }

  let quiet = 0;
  function showAll(): void {
    showSmall();
    const figures = figuresOf(engine, recorder);
    const moved = changed("figures", figures);
    if (moved) view("figures", { at: Date.now(), ...figures });
    quiet = moved || clientFaults.areActive ? 0 : quiet + 1;
    if (quiet <= quietTicks) showClients();
  }

  let ticks = 0;
  showSmall();
  const timer = setInterval(() => {
    ticks++;
    if (isWatched() || ticks % unwatchedTicks === 0) showAll();
  }, intervalMs);
  let closed = false;
  return {
    showSmall,
    showClients,
    close() {
      if (closed) return;
      closed = true;
      clearInterval(timer);
      showAll();
    },
  };
}

function figuresOf(engine: Engine, recorder: MessageRecorder): Omit<MqttFigures, "at"> {
  const { counters, bus, scheduler, load } = engine;
  return {
    clients: engine.clients.size,
    sessions: engine.sessions.size,
    subscriptions: counters.subscriptions,
    topics: recorder.tree.size,
    missingInTree: recorder.tree.uncounted,
    retained: bus.retained.count - bus.retained.systemCount,
    retainedBytes: bus.retained.bytes,
    messagesIn: counters.messagesRouted,
    messagesOut: counters.messagesOut,
    bytesIn: counters.bytesIn,
    bytesOut: scheduler.bytesOut,
    queued: load.waiting,
    dropped: { ...counters.dropped },
    unrecorded: recorder.unrecorded,
    unrecordedEvents: recorder.unrecordedEvents,
  };
}
