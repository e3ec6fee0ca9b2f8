import type {
  AccountSession,
  AccountSessionPage,
  AccountTokenPage,
  AccountUserPage,
  AccountViews,
} from "../../../contract/services/account.ts";
import type { FailureLimits } from "../../core/credentials/failure-limits.ts";
import type { AccountStore } from "../store/account-store.ts";
import type { SessionQuery, TokenQuery } from "../store/sessions-table.ts";
import { createSessionUses } from "./session-uses.ts";
import { shownSession, shownToken, shownUser } from "./shown.ts";

export interface AccountLists {
  users(query: { readonly text: string; readonly offset: number; readonly limit: number }): AccountUserPage;
  sessions(query: SessionQuery): AccountSessionPage;
  session(id: string): AccountSession | null;
  tokens(query: TokenQuery): AccountTokenPage;
}

export interface AccountViewPublisher {
  readonly lists: AccountLists;
  /** Users, sessions or tokens changed: the page is updated soon. */
  changed(what: "users" | "sessions"): void;
  count(kind: "login" | "failed"): void;
  /** A token of the session was used: soon shown, if the page is. */
  used(sessionId: string): void;
  close(): void;
}

export interface AccountViewOptions {
  readonly store: AccountStore;
  readonly limits: FailureLimits;
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
  /** Whether a page shows the views. */
  readonly isWatched: () => boolean;
  readonly view: <Name extends keyof AccountViews>(name: Name, value: AccountViews[Name]) => void;
}

const shownAtMost = 100;
const everyMs = 400;
/** Refresh interval: tokens expire and failures leave their window by themselves. */
const agingMs = 2_000;

/** Publishes the page's views: at most a few times a second, and only those that changed. */
export function createAccountViews({ store, limits, now, onFault, isWatched, view }: AccountViewOptions): AccountViewPublisher {
  const uses = createSessionUses({ store, now });
  const shown = new Map<string, string>();
  let logins = 0;
  let failedLogins = 0;
  let usersRevision = 1;
  /** What has changed since the views were shown. */
  let dirty: "nothing" | "uses" | "all" = "all";
  let timer: NodeJS.Timeout | undefined;
  let next: NodeJS.Immediate | undefined;

  const lists: AccountLists = {
    users(query) {
      const { users, matching } = store.users.list(query, now());
      return { users: users.map(shownUser), matching };
    },
    sessions(query) {
      const { sessions, matching } = store.sessions.list(query, now());
      return { sessions: sessions.map((session) => shownSession(session, uses.get(session.id))), matching };
    },
    session(id) {
      const found = store.sessions.get(id, now());
      return found ? shownSession(found, uses.get(id)) : null;
    },
    tokens(query) {
      const { tokens, matching } = store.sessions.tokens(query, now());
      return { tokens: tokens.map((token) => shownToken(token, now())), matching };
    },
  };

  function publish<Name extends keyof AccountViews>(name: Name, value: AccountViews[Name]): void {
    const text = JSON.stringify(value);
    if (shown.get(name) === text) return;
    shown.set(name, text);
    view(name, value);
  }

  const page = { offset: 0, limit: shownAtMost };
  const showSessions = (): void => publish("sessions", lists.sessions({ live: false, ...page }));

  /** Each reads as much as all sessions or tokens, some ten thousands, at most once. */
  function* showAll(): Generator<void, void> {
    publish("users", lists.users({ text: "", ...page }));
    yield;
    showSessions();
    yield;
    publish("tokens", lists.tokens({ live: false, ...page }));
    yield;
    const liveTokens = store.sessions.liveTokens(now());
    yield;
    const liveSessions = store.sessions.liveSessions(now());
    publish("totals", { users: store.users.count(), liveSessions, liveTokens, logins, failedLogins, usersRevision });
    yield;
    publish("limits", limits.usage());
  }

  function* showChanged(): Generator<void, void> {
    const what = dirty;
    dirty = "nothing";
    if (what === "all") yield* showAll();
    else showSessions();
  }

  function showNow(): void {
    timer = undefined;
    if (dirty !== "nothing") showStep(showChanged(), 0);
  }

  /** A step in a turn of the event loop: others are served between them. */
  function showStep(steps: Iterator<void>, usedMs: number): void {
    next = undefined;
    const startedAt = performance.now();
    let isDone = true;
    try {
      isDone = steps.next().done === true;
    } catch (error) {
      onFault(error);
    }
    const used = usedMs + performance.now() - startedAt;
    if (!isDone) next = setImmediate(showStep, steps, used);
    // Slow with tens of thousands of tokens: at most a twentieth of the time is spent on views.
    else timer = setTimeout(showNow, Math.max(everyMs, 20 * used));
  }

  function soon(what: "uses" | "all" = "all"): void {
    if (dirty !== "all") dirty = what;
    if (!next) timer ??= setTimeout(showNow, everyMs);
  }

  showNow();
  const aging = setInterval(() => soon(), agingMs);
  return {
    lists,
    changed(what) {
      if (what === "users") usersRevision += 1;
      soon();
    },
    count(kind) {
      if (kind === "login") logins += 1;
      else failedLogins += 1;
      soon();
    },
    used(sessionId) {
      uses.note(sessionId);
      if (isWatched()) soon("uses");
    },
    close() {
      clearInterval(aging);
      clearTimeout(timer);
      clearImmediate(next);
      uses.close();
    },
  };
}
