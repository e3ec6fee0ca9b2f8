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
  const begun = allSteps(chooseRule(rules.filter(beginsCall), nothing, parts.counts));
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

/** Of rules without conditions on messages, which are few steps. */
function allSteps<Result>(steps: Iterator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
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
      message: (bytes) => void this.message(bytes, () => call.readWhenWritable()),
      halfClose: () => this.halfClose(() => call.finish()),
    });
  }

  /** The rules are looked through in the turns of all clients. The next message is not asked for before that. */
  message(bytes: Uint8Array, pass: () => void): true {
    this.#run(this.#answer(bytes, pass).catch((error: unknown) => this.#call.fail(error)));
    return true;
  }

  async #answer(bytes: Uint8Array, pass: () => void): Promise<void> {
    const received = new ReceivedMessages(this.#call, this.#method, [bytes], this.#parts.mostValues);
    const { work, held } = this.#call;
    held.add(bytes.length);
    try {
      const chosen = await work.run(this.#choose(received));
      if (this.#call.isEnding) return;
      if (chosen) await this.#perform(chosen, received, pass);
      else if (this.#replying === 0) pass();
      else await this.#inOrder(async () => pass());
    } finally {
      held.add(-bytes.length);
    }
  }

  #perform(chosen: ChosenRule, received: ReceivedMessages, pass: () => void): Promise<unknown> {
    const { rule } = chosen;
    const act = () => (chosen === this.#begun ? this.rules.reply(chosen, received) : this.rules.perform(chosen, received, pass));
    const acted = rule.reply ? this.#inOrder(act) : act();
    // A handler that gets the message asks for the next one itself.
    const passes = !rule.reply && !rule.script && !rule.status;
    if (!passes) this.#readOn();
    return acted;
  }

  halfClose(pass: () => void): void {
    this.#afterLast = pass;
    this.#settle();
  }

  *#choose(received: ReceivedMessages): Generator<void, ChosenRule | undefined> {
    const begun = this.#begun;
    const place = begun?.rule.reply ? this.#ofMessages.indexOf(begun.rule) : -1;
    if (place < 0) return yield* chooseRule(this.#ofMessages, received, this.#parts.counts);
    // The rule that has the call answers each message without being counted again.
    return (yield* chooseRule(this.#ofMessages.slice(0, place), received, this.#parts.counts)) ?? begun;
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
