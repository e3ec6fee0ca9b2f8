import { createContext, type ReactNode, useContext } from "react";
import type { ControlClient } from "./control-client.ts";
import type { DashboardStores } from "./dashboard-stores.ts";

interface Control {
  readonly client: ControlClient;
  readonly stores: DashboardStores;
}
const ControlContext = createContext<Control | undefined>(undefined);

export function ControlProvider({ control, children }: { control: Control; children: ReactNode }) {
  return <ControlContext value={control}>{children}</ControlContext>;
}

function useControlContext(): Control {
  const control = useContext(ControlContext);
  if (!control) throw new Error("There is no ControlProvider above this component.");
  return control;
}

/** Calls, actions and topics of the supervisor. */
export const useControl = (): ControlClient => useControlContext().client;
export const useStores = (): DashboardStores => useControlContext().stores;
