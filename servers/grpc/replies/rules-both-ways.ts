import type { GrpcCall } from "../engine/grpc-call.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";
import type { CompiledRule } from "./compile-rule.ts";
import { type ChosenRule, chooseRule, type PerformParts, RuleCall } from "./perform-rule.ts";
import { ReceivedMessages } from "./received-messages.ts";

/** While this many messages are being answered, the next one waits. */
const mostRunning = 16;

interface BothWaysOptions {
  readonly call: GrpcCall;
  readonly method: GrpcMethod;
  /** The rules whose conditions on metadata hold. */
  readonly rules: readonly CompiledRule[];
  readonly parts: PerformParts;
  readonly otherwise: () => void;
}

/**
 * Answers a call with streams in both directions. A rule without conditions on messages that has more than a reply takes the whole call;
 * the others answer single messages. Other messages go to the method's own handler, unless a rule has the whole call.
 */
export function answerBothWays({ call, method, rules, parts, otherwise }: BothWaysOptions): boolean {
  const beginsCall = ({ conditions, reply, script }: CompiledRule) => !conditions.readsMessages && (!reply || script !== undefined);
  const nothing = new ReceivedMessages(call, method, [], parts.mostValues);
  const begun = chooseRule(rules.filter(beginsCall), nothing, parts.counts);
  const ofMessages = rules.filter((rule) => !beginsCall(rule) || (rule === begun?.rule && rule.reply));
  if (!begun && ofMessages.length === 0) return false;
  const both = new BothWays(call, method, ofMessages, parts, begun);
  if (begun && (begun.rule.script || begun.rule.status)) both.own(begun, nothing);
  else {
    call.filterMessages(both);
    if (begun) void both.rules.perform(begun, nothing, otherwise);
    else otherwise();
  }
  return true;
}

class BothWays {
  readonly rules: RuleCall;
  readonly #call: GrpcCall;
  readonly #method: GrpcMethod;
  readonly #ofMessages: readonly CompiledRule[];
  readonly #parts: PerformParts;
  readonly #begun: ChosenRule | undefined;
  #running = 0;
  #readsLater = false;
  /** Replies are sent in the order of what they answer; a message for the method's handler waits for those before it. */
  #replies: Promise<unknown> = Promise.resolve();
  #replying = 0;
  /** Called when the client has sent its half-close and all its messages are answered. */
  #afterLast: (() => void) | undefined;

  constructor(call: GrpcCall, method: GrpcMethod, ofMessages: readonly CompiledRule[], parts: PerformParts, begun: ChosenRule | undefined) {
    this.rules = new RuleCall(call, parts);
    this.#call = call;
    this.#method = method;
    this.#ofMessages = ofMessages;
    this.#parts = parts;
    this.#begun = begun;
  }

  /** The rule has the whole call: messages that no other rule answers are dropped. */
  own(begun: ChosenRule, nothing: ReceivedMessages): void {
    const call = this.#call;
    this.#run(
      this.rules
        .perform(begun, nothing, () => {})
        .then((goesOn) => {
          // Without rules for messages there is nothing to wait for.
          if (goesOn && this.#ofMessages.length === 0) call.finish();
        }),
    );
    call.receive({
      message: (bytes) => {
        if (!this.message(bytes, () => {})) call.readWhenWritable();
      },
      halfClose: () => this.halfClose(() => call.finish()),
    });
  }

  /** True where a rule answers the message. */
  message(bytes: Uint8Array, pass: () => void): boolean {
    const received = new ReceivedMessages(this.#call, this.#method, [bytes], this.#parts.mostValues);
    const begun = this.#begun;
    // The rule that has the call answers each message without being counted again.
    const chosen =
      begun?.rule.reply && this.#ofMessages.includes(begun.rule)
        ? this.#chooseBefore(begun, received)
        : chooseRule(this.#ofMessages, received, this.#parts.counts);
    if (!chosen) {
      if (this.#replying === 0) return false;
      this.#run(this.#inOrder(async () => pass()));
      return true;
    }
    const { rule } = chosen;
    const passes = !rule.reply && !rule.script && !rule.status;
    const { held } = this.#call;
    held.add(bytes.length);
    const over = () => held.add(-bytes.length);
    if (chosen === begun) this.#run(this.#inOrder(() => this.rules.reply(chosen, received)).finally(over));
    else if (rule.reply) this.#run(this.#inOrder(() => this.rules.perform(chosen, received, pass)).finally(over));
    else this.#run(this.rules.perform(chosen, received, pass).finally(over));
    // A handler that gets the message asks for the next one itself.
    if (!passes) this.#readOn();
    return true;
  }

  halfClose(pass: () => void): void {
    this.#afterLast = pass;
    this.#settle();
  }

  #chooseBefore(begun: ChosenRule, received: ReceivedMessages): ChosenRule {
    const before = this.#ofMessages.slice(0, this.#ofMessages.indexOf(begun.rule));
    return chooseRule(before, received, this.#parts.counts) ?? begun;
  }

  #inOrder(answer: () => Promise<unknown>): Promise<unknown> {
    this.#replying++;
    this.#replies = this.#replies.then(answer).finally(() => this.#replying--);
    return this.#replies;
  }

  #run(answer: Promise<unknown>): void {
    this.#running++;
    void answer.then(() => {
      this.#running--;
      if (this.#readsLater) {
        this.#readsLater = false;
        this.#readOn();
      }
      this.#settle();
    });
  }

  #readOn(): void {
    if (this.#running < mostRunning) this.#call.readWhenWritable();
    else this.#readsLater = true;
  }

  #settle(): void {
    if (this.#running > 0 || !this.#afterLast) return;
    const then = this.#afterLast;
    this.#afterLast = undefined;
    then();
  }
}
