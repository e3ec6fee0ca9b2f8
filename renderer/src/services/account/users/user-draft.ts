import { type AccountUserDetails, type ContactField, contactFields } from "../../../../../contract/services/account.ts";

/** The rule of the contract, checked while typing. */
export const isEmail = (text: string): boolean => text.length <= 200 && /^[^\s@:]+@[^\s@:]+$/.test(text);

export type UserDraft = Readonly<Record<ContactField | "email", string>>;

export const draftOf = ({ email, contact }: Pick<AccountUserDetails, "email" | "contact">): UserDraft => ({ email, ...contact });

/** Only changed fields, so that changes by others are kept. Absent if nothing changed. */
export function changesOf(
  draft: UserDraft,
  known: Pick<AccountUserDetails, "email" | "contact">,
): { readonly email?: string; readonly contact: Partial<Record<ContactField, string>> } | undefined {
  const contact = Object.fromEntries(
    contactFields.filter((name) => draft[name] !== known.contact[name]).map((name) => [name, draft[name]]),
  );
  const email = draft.email.trim();
  if (email === known.email && Object.keys(contact).length === 0) return undefined;
  return { ...(email !== known.email && { email }), contact };
}

export const contactTitles: Readonly<Record<ContactField, string>> = {
  type: "Type",
  companyname: "Company",
  companyregistrationnumber: "Registration number",
  vateu: "VAT number",
  firstname: "First name",
  lastname: "Last name",
  address1: "Address",
  address2: "Address, second line",
  city: "City",
  state: "State",
  postcode: "Postcode",
  country: "Country",
  phonenumber: "Phone",
  emarketing: "E-marketing",
};

/** In the order of a postal address. */
export const contactOrder: readonly ContactField[] = [
  "firstname",
  "lastname",
  "companyname",
  "type",
  "address1",
  "address2",
  "city",
  "state",
  "postcode",
  "country",
  "phonenumber",
  "emarketing",
  "vateu",
  "companyregistrationnumber",
];
