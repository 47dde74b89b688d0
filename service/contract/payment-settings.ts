/** The settings of a deployment, as the stack writes them. */
export interface PaymentSettings {
  /** Null: Stripe itself. */
  readonly base_url: string | null;
  readonly automatic_tax: boolean;
  readonly tax_ids: boolean;
  readonly invoices: boolean;
  readonly suspend_on_dispute: boolean;
}
