/** A request in Stripe's form: `line_items[0][price_data][currency]=usd`. */
export type FormValue = string | number | boolean | undefined | readonly FormValue[] | FormFields;

export interface FormFields {
  readonly [name: string]: FormValue;
}

/** Members that are undefined are left out. */
export function encodeForm(fields: FormFields): URLSearchParams {
  const form = new URLSearchParams();
  const add = (name: string, value: FormValue): void => {
    if (value === undefined) return;
    if (typeof value !== 'object') form.append(name, String(value));
    else for (const [step, one] of Object.entries(value)) add(`${name}[${step}]`, one);
  };
  for (const [name, value] of Object.entries(fields)) add(name, value);
  return form;
}
