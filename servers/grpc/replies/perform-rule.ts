import { errorText } from "../../core/service/service-error.ts";
import { oneStep } from "../../core/turns/work-connection.ts";
import type { GrpcCall } from "../engine/grpc-call.ts";
import { StatusError } from "../engine/status.ts";
import type { CompiledRule, ScriptedStatus } from "./compile-rule.ts";
import { CallWaits, playScript } from "./play-script.ts";
import type { ReceivedMessages } from "./received-messages.ts";
import type { Releases } from "./releases.ts";
import type { RuleCounts } from "./rule-counts.ts";
import type { TemplateScope } from "./template.ts";

/** A rule that answers. */
export interface ChosenRule {
  readonly rule: CompiledRule;
  /** Of the rule's matches, from 1. */
  readonly match: number;
  readonly answer: number;
}

export interface PerformParts {
  readonly counts: RuleCounts;
  readonly releases: Releases;
  /** Of a message. Rules read less of it: see `WrittenValues`. */
  readonly mostValues: number;
  /** Of a header field, a trailer or a status message that is made of what clients send. */
  readonly mostCharacters: number;
  /** Called for a rule that cannot answer. */
  readonly onFault: (call: GrpcCall, rule: CompiledRule, message: string) => void;
}

/** The first rule that matches and still answers. Matches are counted. */
export function* chooseRule(
  rules: readonly CompiledRule[],
  received: ReceivedMessages,
  counts: RuleCounts,
): Generator<void, ChosenRule | undefined> {
  for (const rule of rules) {
    const counted = (yield* rule.conditions.messagesMatch(received)) ? counts.match(rule) : undefined;
    if (counted) return { rule, ...counted };
    yield;
  }
  return undefined;
}

/** Carries out the rules in one call. */
export class RuleCall {
  readonly #call: GrpcCall;
  readonly #parts: PerformParts;
  readonly #waits: CallWaits;
  /** Messages that each rule has sent. */
  readonly #sent = new Map<CompiledRule, number>();

  constructor(call: GrpcCall, parts: PerformParts) {
    this.#call = call;
    this.#parts = parts;
    this.#waits = new CallWaits(call, parts.releases);
  }

  /**
   * Waits as the rule says, then answers with its reply, script or status. Resolves with true if more may be sent after that.
   * `pass` is called for a rule without an answer. Never rejects: an error ends the call.
   */
  async perform(chosen: ChosenRule, received: ReceivedMessages, pass: () => void): Promise<boolean> {
    const { rule, answer } = chosen;
    this.#call.entry.ruled(rule);
    try {
      if (rule.release !== undefined) this.#parts.releases.release(rule.release);
      if (rule.waitFor !== undefined && !(await this.#waits.released(rule.waitFor))) return false;
      const delayMs = rule.delayMs(answer);
      if (delayMs > 0 && !(await this.#waits.pause(delayMs))) return false;
      // Making the answer may take much of a turn, and many may be due in one.
      return await this.#call.work.run(oneStep(() => this.#answer(chosen, received, pass)));
    } catch (error) {
      this.#fail(rule, error);
      return false;
    }
  }

  #answer(chosen: ChosenRule, received: ReceivedMessages, pass: () => void): boolean | Promise<boolean> {
    if (this.#call.isEnding) return false;
    const { rule } = chosen;
    this.#parts.counts.answer(rule.key);
    const scope = this.#scope(chosen, received);
    for (const [name, value] of rule.headers(scope)) this.#call.responseHeaders.add(name, value);
    for (const [name, value] of rule.trailers(scope)) this.#call.trailers.add(name, value);
    if (rule.status) {
      this.#end(rule.status(scope));
      return false;
    }
    if (rule.script) {
      const { releases } = this.#parts;
      const call = this.#call;
      return playScript({
        call,
        waits: this.#waits,
        releases,
        steps: rule.script,
        scope,
        onSent: () => this.#countSent(rule),
        end: (status) => this.#end(status),
      });
    }
    if (rule.reply) return this.#reply(rule, scope);
    pass();
    return true;
  }

  /** Sends just the reply of a rule: the answer to a message of a call that the rule has begun. */
  async reply(chosen: ChosenRule, received: ReceivedMessages): Promise<boolean> {
    try {
      return await this.#call.work.run(
        oneStep(() => {
          if (!this.#call.isEnding) this.#parts.counts.answer(chosen.rule.key);
          return this.#reply(chosen.rule, this.#scope(chosen, received));
        }),
      );
    } catch (error) {
      this.#fail(chosen.rule, error);
      return false;
    }
  }

  #reply(rule: CompiledRule, scope: TemplateScope): boolean {
    if (rule.reply) this.#call.send(rule.reply(scope));
    this.#countSent(rule);
    return !this.#call.isEnding;
  }

  #countSent(rule: CompiledRule): void {
    this.#sent.set(rule, (this.#sent.get(rule) ?? 0) + 1);
  }

  #scope({ rule, match }: ChosenRule, received: ReceivedMessages): TemplateScope {
    const sent = this.#sent;
    return {
      get request() {
        return received.last;
      },
      get messages() {
        return received.messages();
      },
      metadata: (name) => received.metadata(name)[0],
      count: match,
      get index() {
        return sent.get(rule) ?? 0;
      },
      method: this.#call.head.path,
      mostFields: this.#parts.mostValues,
      mostCharacters: this.#parts.mostCharacters,
    };
  }

  #end({ code, message, details }: ScriptedStatus): void {
    // Only an error has details.
    if (details && code !== 0) this.#call.trailers.set("grpc-status-details-bin", details);
    this.#call.finish(code, message);
  }

  #fail(rule: CompiledRule, error: unknown): void {
    const message = errorText(error);
    this.#parts.onFault(this.#call, rule, message);
    this.#call.fail(
      error instanceof StatusError ? error : new StatusError("INTERNAL", `the reply rule ${rule.name} cannot answer: ${message}`),
    );
  }
}
