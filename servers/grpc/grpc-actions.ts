import type { Handlers } from "../../contract/operation.ts";
import type { GrpcActions, GrpcResend, GrpcResent } from "../../contract/services/grpc.ts";
import { ServiceError } from "../core/service/service-error.ts";
import type { SampleSwitch } from "../core/traffic/sample-switch.ts";
import type { GrpcTryClient } from "./clients/try-client.ts";
import type { OpenCalls } from "./engine/open-calls.ts";
import type { MetricsHistory } from "./observe/metrics-history.ts";
import { pushIntoCall } from "./replies/push-into-call.ts";
import type { Replies } from "./replies/replies.ts";
import type { Health } from "./services/health.ts";
import type { ServedProtos } from "./services/served-protos.ts";
import type { UserProtos } from "./user-protos/user-protos.ts";

export interface GrpcActionParts {
  readonly health: Health;
  readonly sample: Pick<SampleSwitch, "actions">;
  readonly tries: GrpcTryClient;
  readonly replies: Replies;
  readonly openCalls: OpenCalls;
  readonly history: Pick<MetricsHistory, "read">;
  readonly resend: (call: GrpcResend) => Promise<GrpcResent>;
  readonly served: ServedProtos;
  readonly protos: UserProtos;
}

/** The page's actions. */
export const createGrpcActions = ({
  health,
  sample,
  tries,
  history,
  resend,
  replies,
  openCalls,
  served,
  protos,
}: GrpcActionParts): Handlers<GrpcActions> => ({
  "health.set"({ service, state }) {
    if (health.state(service) === "SERVICE_UNKNOWN")
      throw new ServiceError("CALL_INVALID", `There is no service ${service}`, "Choose one that is served.");
    health.set(service, state);
    return null;
  },
  ...schemaAction(served),
  "protos.begin": () => ({ upload: protos.begin() }),
  async "protos.put"({ upload, pieces }) {
    await protos.put(upload, pieces);
    return null;
  },
  "protos.end": ({ upload }) => protos.end(upload),
  async "protos.cancel"({ upload }) {
    await protos.cancel(upload);
    return null;
  },
  async "protos.remove"({ source }) {
    await protos.remove(source);
    return null;
  },
  async "protos.reload"() {
    await protos.reload();
    return null;
  },
  "try.start": (params) => tries.start(params),
  "try.send": ({ json }) => tries.send(json),
  "try.half-close": () => tries.halfClose(),
  "try.cancel": () => tries.cancel(),
  "try.messages": ({ limit }) => ({ messages: tries.messages(limit) }),
  metrics: (range) => history.read(range),
  resend,
  ...sample.actions,
  ...replies.actions,
  "call.push": ({ row, push }) => pushIntoCall(row, push, openCalls),
});

/** Works while the service is stopped too. */
export const schemaAction = (served: ServedProtos): Pick<Handlers<GrpcActions>, "schema"> => ({
  schema({ revision }) {
    const schema = served.schema(revision);
    return { base64: schema.set.toString("base64"), revision: schema.revision };
  },
});
