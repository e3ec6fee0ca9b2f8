import type { BillingTables } from "../store/billing-tables.ts";
import type { ApiRoute, Call } from "./api-route.ts";
import { notFound } from "./refusal.ts";

export function billingRoutes(billing: BillingTables): readonly ApiRoute[] {
  async function one<Item>(call: Call, find: (userId: number, id: number) => readonly Item[]): Promise<readonly Item[]> {
    const { user } = await call.caller();
    const id = call.number("id");
    const found = id === undefined ? [] : find(user.id, id);
    if (found.length === 0) throw notFound();
    return found;
  }
  return [
    { path: "/invoice", methods: { GET: async (call) => ({ invoices: billing.invoices((await call.caller()).user.id) }) } },
    { path: "/invoice/:id", methods: { GET: async (call) => ({ invoices: await one(call, billing.invoices) }) } },
    { path: "/service", methods: { GET: async (call) => ({ services: billing.services((await call.caller()).user.id) }) } },
    { path: "/service/:id", methods: { GET: async (call) => ({ services: await one(call, billing.services) }) } },
  ];
}
