/** The types of the API. */
export interface FieldProblem {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}
export interface CreationResult {
  url: string;
  width: number;
  height: number;
  content_type: string;
  bytes: number;
  content_credentials?: 'present' | 'absent';
}
export interface Creation {
  id: string;
  status: 'queued' | 'processing' | 'completed' | 'failed';
  model: string;
  prompt: string;
  cost: number;
  amount_refunded: number;
  error?: string;
  retryable?: boolean;
  results?: CreationResult[];
  result_urls?: string[];
  result_expires_at?: string;
  metadata: Record<string, string>;
  cancelled_at: string | null;
}
export interface CompletedCreation extends Creation {
  status: 'completed';
  results: CreationResult[];
  result_urls: string[];
  result_expires_at: string;
}
export interface CreationFilter {
  readonly status?: Creation['status'] | undefined;
  readonly model?: string | undefined;
  readonly user?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}
export interface ImageRequest {
  model: string;
  prompt?: string;
  image_urls?: string[];
  resolution?: string;
  metadata?: Record<string, string>;
}
export interface Quote {
  cost: number;
  sufficient: boolean;
  input_images: number;
}
export interface Balance {
  available: number;
  currency: string;
}
export interface Model {
  id: string;
  default_resolution: string | null;
  pricing: { usd: number }[];
}
export interface ModelList {
  data: Model[];
}
export interface Upload {
  image_url: string;
  upload_url: string;
  upload_headers: Record<string, string>;
}
export interface Event {
  id: string;
  event: string;
  payload: { status: string };
  redelivery_of: string | null;
}
export interface EventPage {
  data: Event[];
  next_cursor: string;
}
export function isCompleted(creation: Creation): creation is CompletedCreation {
  return creation.status === 'completed';
}
