import type { GrpcActions, GrpcViews } from "../../../contract/services/grpc.ts";
import { fileProblem, oneOfField } from "../../core/config/configured-file.ts";
import { longStep } from "../../core/service/long-step.ts";
import type { ServiceContext } from "../../core/service/service.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { type GrpcConfig, grpcConfig } from "../grpc-config.ts";
import type { DescriptorPool } from "../protos/descriptor-pool.ts";
import type { ServedProtos } from "../services/served-protos.ts";
import { DroppedProtos } from "./dropped-protos.ts";
import { UserProtos } from "./user-protos.ts";

export type UserProtosConfig = Pick<GrpcConfig, "protos" | "protoBytes" | "protoFiles" | "protoTypes">;

/** Resolves when they are served. */
export async function serveUserProtos(
  context: ServiceContext<UserProtosConfig, GrpcActions, GrpcViews>,
  own: DescriptorPool,
  served: ServedProtos,
  turns: WorkTurns,
): Promise<UserProtos> {
  const { config, dataDir, log, view, onStop } = context;
  const limits = { bytes: config.protoBytes, files: config.protoFiles, types: config.protoTypes };
  const protos = new UserProtos({
    paths: config.protos,
    dropped: new DroppedProtos({ dataDir: dataDir(), limits }),
    limits,
    own,
    log,
    turns,
    serve: (pool, revision) => served.serve(pool, revision),
    show: (state) => view("protos", state),
  });
  onStop(() => protos.close());
  await longStep(context, "compiling protocol files", protos.open());
  return protos;
}

/** Throws CONFIG_INVALID where nothing is served of a path of the setting because of its problems; one that gets them later is named in the log. */
export function refuseUnusable(protos: UserProtos): void {
  const unusable = protos.unusable();
  if (!unusable) return;
  const file = oneOfField(grpcConfig.shape, "protos", unusable.path);
  const hint =
    unusable.path === ""
      ? `Name fewer files in ${file.env}, or start again while the computer has less to do.`
      : `Correct the file or folder, or its path in ${file.env}.`;
  throw fileProblem(file, `cannot be used: ${unusable.problem}`, hint);
}
