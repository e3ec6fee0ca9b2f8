import type { HealthState } from "../../../contract/services/grpc.ts";
import type { GrpcCall } from "../engine/grpc-call.ts";
import { readOne, type ServiceHandlers, unary } from "../engine/handlers.ts";
import { describedMessage, fewValues } from "../engine/message-type.ts";
import { StatusError } from "../engine/status.ts";
import type { DescriptorPool } from "../protos/descriptor-pool.ts";

interface HealthRequest {
  readonly service: string;
}
interface HealthReply {
  readonly status: number;
}

/** Numbers of the enum ServingStatus. */
const numbers: Readonly<Record<HealthState, number>> = { SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 };
/** health.proto: List fails if there are more. */
const mostListed = 100;

/** grpc.health.v1: the state of each service, and of the whole server as "". */
export class Health {
  readonly #states = new Map<string, HealthState>([["", "SERVING"]]);
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  states(): readonly (readonly [service: string, state: HealthState])[] {
    return [...this.#states];
  }

  state(service: string): HealthState {
    return this.#states.get(service) ?? "SERVICE_UNKNOWN";
  }

  /** Notifies the watchers of the service immediately. */
  set(service: string, state: HealthState): void {
    if (this.#change(service, state)) this.#onChange();
  }

  #change(service: string, state: HealthState): boolean {
    if (this.state(service) === state) return false;
    if (state === "SERVICE_UNKNOWN") this.#states.delete(service);
    else this.#states.set(service, state);
    for (const watcher of [...(this.#watchers.get(service) ?? [])]) watcher();
    return true;
  }

  /** New services are SERVING; removed ones are unknown. There may be thousands, which are one change. */
  serve(services: readonly string[]): void {
    const served = new Set(services);
    for (const service of served) if (!this.#states.has(service)) this.#change(service, "SERVING");
    for (const [service] of [...this.#states]) if (service !== "" && !served.has(service)) this.#change(service, "SERVICE_UNKNOWN");
    this.#onChange();
  }

  stop(): void {
    for (const [service] of [...this.#states]) this.#change(service, "NOT_SERVING");
    this.#onChange();
  }

  watch(service: string, watcher: () => void): () => void {
    const watchers = this.#watchers.get(service) ?? new Set();
    this.#watchers.set(service, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0) this.#watchers.delete(service);
    };
  }
}

export function healthService(health: Health, pool: DescriptorPool): ServiceHandlers {
  const request = describedMessage<HealthRequest>(pool.message("grpc.health.v1.HealthCheckRequest"), fewValues);
  const reply = describedMessage<HealthReply>(pool.message("grpc.health.v1.HealthCheckResponse"));
  const listRequest = describedMessage<object>(pool.message("grpc.health.v1.HealthListRequest"), fewValues);
  const listReply = describedMessage<{ readonly statuses: Readonly<Record<string, HealthReply>> }>(
    pool.message("grpc.health.v1.HealthListResponse"),
  );

  function watch(call: GrpcCall, service: string): void {
    let sent: HealthState | undefined;
    const share = call.work.join(show);
    /** In the turns of all clients: a service may have thousands of watchers. */
    function show(): void {
      const state = health.state(service);
      if (state === sent || call.isEnding) return;
      if (share.isOver) {
        share.later();
        return;
      }
      sent = state;
      call.run(() => void call.send(reply.frame({ status: numbers[state] })));
    }
    show();
    call.whenOver(health.watch(service, show));
  }

  return {
    "grpc.health.v1.Health": {
      Check: unary(request, reply, ({ service }) => {
        const state = health.state(service);
        if (state === "SERVICE_UNKNOWN") throw new StatusError("NOT_FOUND", `there is no service ${service.slice(0, 200)}`);
        return { status: numbers[state] };
      }),
      List: unary(listRequest, listReply, () => {
        const states = health.states();
        if (states.length > mostListed) throw new StatusError("RESOURCE_EXHAUSTED", `there are more than ${mostListed} services`);
        return { statuses: Object.fromEntries(states.map(([service, state]) => [service, { status: numbers[state] }])) };
      }),
      Watch: (call) => readOne(call, request, ({ service }) => watch(call, service)),
    },
  };
}
