import { changeableDetails, contactValue, emailAddress } from "../../../contract/services/account.ts";
import type { AccountStore } from "../store/account-store.ts";
import type { BillingTables } from "../store/billing-tables.ts";
import type { Contact, User } from "../store/users-table.ts";
import type { ApiRoute, Call } from "./account-routes.ts";
import { notFound, Refusal } from "./refusal.ts";
import type { Fields } from "./request-fields.ts";

export interface DetailsRoutesOptions {
  readonly store: AccountStore;
  readonly rich: boolean;
  /** Called when the user's e-mail address changed: cached credentials are invalid. */
  readonly onEmailChange: (user: User) => void;
  readonly onChange: () => void;
}

type Changeable = (typeof changeableDetails)[number];

const namedKeys = 20;

export function detailsRoutes({ store, rich, onEmailChange, onChange }: DetailsRoutesOptions): readonly ApiRoute[] {
  const { users } = store;

  async function change(user: User, fields: Fields): Promise<User> {
    const { email, ...contact } = parseDetails(fields);
    await store.write(() => {
      users.setContact(user.id, contact as Partial<Contact>);
      if (email === undefined || email === user.email) return;
      const other = users.byEmail(email);
      if (other && other.id !== user.id) throw new Refusal(400, "emailtaken");
      users.set(user.id, { email });
      onEmailChange(user);
    });
    onChange();
    return users.get(user.id) ?? user;
  }

  return [
    {
      path: "/details",
      methods: {
        GET: async (call) => ({ client: clientOf((await call.caller()).user, rich) }),
        PUT: async (call) => {
          const { user } = await call.caller();
          return { client: clientOf(await change(user, await call.fields()), rich) };
        },
      },
    },
    {
      path: "/balance",
      methods: {
        GET: async (call) => {
          const { user } = await call.caller();
          return { details: { currency: user.currency, acc_balance: store.billing.balance(user.id), acc_credit: user.acc_credit } };
        },
      },
    },
  ];
}

/** Every value is a string; keys in the order that clients expect. */
const clientOf = (user: User, rich: boolean) => ({
  id: String(user.id),
  email: user.email,
  lastlogin: user.lastlogin,
  ip: user.ip,
  host: user.host,
  firstname: user.firstname,
  lastname: user.lastname,
  companyname: user.companyname,
  address1: user.address1,
  address2: user.address2,
  city: user.city,
  state: user.state,
  postcode: user.postcode,
  country: user.country,
  phonenumber: user.phonenumber,
  ...(rich && { newsletter: [""], privacypolicy: [""] }),
});

const known = new Set<string>(changeableDetails);

/** Throws 400 that names each field that is unknown or wrong. */
function parseDetails(fields: Fields): Partial<Record<Changeable, string>> {
  const unknown = [...fields.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new Refusal(
      400,
      unknown.slice(0, namedKeys).map((name) => `unknownfield: ${name.slice(0, 60)}`),
    );
  }
  const details: Partial<Record<Changeable, string>> = {};
  const wrong: string[] = [];
  for (const [name, value] of fields) {
    const text = allowedValue(name as Changeable, textOf(value));
    if (text === undefined) wrong.push(`invalidfield: ${name}`);
    else details[name as Changeable] = text;
  }
  if (wrong.length > 0) throw new Refusal(400, wrong);
  return details;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "boolean") return value ? "1" : "0";
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value.trim() : undefined;
}

function allowedValue(name: Changeable, text: string | undefined): string | undefined {
  return (name === "email" ? emailAddress : contactValue(name)).safeParse(text).data;
}

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
