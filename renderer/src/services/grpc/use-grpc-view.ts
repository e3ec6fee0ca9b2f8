import type { GrpcViews } from "../../../../contract/services/grpc.ts";
import { viewsOf } from "../../control/use-store.ts";

export const useGrpcView = viewsOf<GrpcViews>("grpc");
