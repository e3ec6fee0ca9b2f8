import { type GrpcActions, type GrpcViews, grpcActions } from "../../contract/services/grpc.ts";
import { refusedActions, type ServiceContext } from "../core/service/service.ts";
import { WorkTurns } from "../core/turns/work-turns.ts";
import { schemaAction } from "./grpc-actions.ts";
import { loadOwnProtos } from "./protos/own-protos.ts";
import { ServedProtos } from "./services/served-protos.ts";
import { serveUserProtos, type UserProtosConfig } from "./user-protos/serve-user-protos.ts";

/** Serves the types while the service is stopped, for decoding recorded messages. */
export async function browseGrpc(context: ServiceContext<UserProtosConfig, GrpcActions, GrpcViews>): Promise<void> {
  const own = await loadOwnProtos();
  const served = new ServedProtos(own, { handlers: {}, replies: [] }, () => showServices());
  let isShown = false;
  const showServices = () => {
    isShown = true;
    const { view, revision } = served.current;
    context.view("services", { services: view, revision });
  };
  const turns = new WorkTurns();
  context.onStop(() => turns.close());
  await serveUserProtos(context, own, served, turns);
  // Not before: pages would ask for these types in place of those that they have.
  if (!isShown) showServices();
  context.handle({ ...refusedActions(grpcActions, "gRPC"), ...schemaAction(served) });
}
