import type { Notice } from './site.ts'

/**
 * Phrases of the sites in the languages that tests cover: en, ja, de, fr, es, zh. They are tried after the selectors,
 * which hold in every language. One row is one language.
 */

/** Matches a line before an answer that only tells of the thinking. */
export const notes = /* @__PURE__ */ new RegExp(
  '^(?:\\*\\*)?(?:thought for .{0,16}(?:\\d ?\\w{1,7}|seconds?|minutes?|moment|while)|' +
    'thinking(?: (?:for|time)\\b.{0,20})?[.…]*|show thinking|' +
    '思考時間.{0,16}|思考プロセスを表示|' +
    '.{1,16} lang nachgedacht|gedankengang anzeigen|' +
    'réflexion durant .{1,24}|afficher le raisonnement|' +
    'pensó durante .{1,24}|mostrar razonamiento|' +
    '已思考.{0,16}|显示思路)(?:\\*\\*)?$',
  'i',
)

// The marks let the bundler leave out unused lists.
/* @__NO_SIDE_EFFECTS__ */
function phrases(...rows: string[]): string[] {
  return rows.flatMap((row) => row.split(' | '))
}

export const stop = phrases(
  'stop | stop streaming | stop generating | stop response | stop generation | stop model response',
  '生成を停止 | ストリーミングの停止 | 回答を停止 | 停止',
  'streaming stoppen | antwort stoppen | generierung beenden | beenden',
  'arrêter | arrêter la diffusion | arrêter la réponse | arrêter la génération',
  'detener | detener la transmisión | detener respuesta | detener la generación',
  '停止流式传输 | 停止回答 | 停止生成',
)

export const send = phrases(
  'send | send prompt | send message | submit | submit message | run',
  '送信 | プロンプトを送信する | プロンプトを送信 | 実行',
  'senden | prompt senden | nachricht senden | ausführen',
  "envoyer | envoyer l’invite | envoyer l'invite | envoyer un message | exécuter",
  'enviar | enviar indicación | enviar mensaje | ejecutar',
  '发送 | 发送提示 | 发送消息 | 运行',
)

export const thinking = ['thinking', '思考中', 'nachdenken', 'réflexion', 'pensando', '正在思考']

export const skip = phrases(
  'skip | skip thinking | answer now',
  '今すぐ回答 | 思考をスキップ',
  'nachdenken überspringen | jetzt antworten',
  'passer la réflexion | répondre maintenant',
  'omitir razonamiento | responder ahora',
  '跳过思考 | 立即回答',
)

/** Names of the feedback buttons beside a complete answer. */
export const feedback = phrases(
  'good response | bad response',
  '良い回答です | 良くない回答です',
  'gute antwort | schlechte antwort',
  'bonne réponse | mauvaise réponse',
  'buena respuesta | mala respuesta',
  '最佳回复 | 错误回复',
)

export const expired = phrases(
  'session has expired | session expired',
  '有効期限が切れ',
  'sitzung ist abgelaufen',
  'session a expiré',
  'sesión ha caducado | sesión ha expirado',
  '会话已过期 | 登录已过期',
)

/** A log-in form refused what was entered. */
const refused = phrases(
  'incorrect password | wrong password | incorrect email | invalid credentials | authentication failed | ' +
    'login failed | log in failed | sign in failed | sign-in failed | couldn’t sign you in',
  'パスワードが正しくありません | ログインできません | 認証に失敗',
  'falsches passwort | anmeldung fehlgeschlagen',
  'mot de passe incorrect | échec de la connexion | échec de l’authentification',
  'contraseña incorrecta | error al iniciar sesión',
  '密码错误 | 密码不正确 | 登录失败',
)

export const rateLimited = phrases(
  'reached the current usage limit | reached your | hit your limit | limit reached | rate limit exceeded | ' +
    'too many requests',
  '利用制限に達し | 上限に達し | リクエストが多すぎ',
  'nutzungslimit erreicht | limit erreicht | zu viele anfragen',
  'atteint la limite | atteint votre limite | trop de requêtes',
  'alcanzado el límite | demasiadas solicitudes',
  '达到使用上限 | 已达上限 | 请求过多',
)

export const network = phrases(
  'network error | check your connection | something went wrong',
  'ネットワークエラー | 接続を確認 | 問題が発生しました',
  'netzwerkfehler | etwas ist schiefgelaufen',
  'erreur réseau | une erreur s’est produite',
  'error de red | algo salió mal',
  '网络错误 | 出了点问题 | 出错了',
)

/** A log-in form that refused. It comes before the notices of a log-in page, which may be there too. */
export const refusal: Notice = { code: 'AUTHENTICATION_FAILED', selector: ['[role="alert"]'], words: refused }

/** Notices about the log-in that most sites show as alerts. */
export const logins: Notice[] = [refusal, { code: 'SESSION_EXPIRED', selector: ['[role="alert"]'], words: expired }]

/** Notices that all sites show as alerts. */
export const alerts: Notice[] = [
  { code: 'RATE_LIMITED', selector: ['[role="alert"]'], words: rateLimited },
  { code: 'NETWORK_ERROR', selector: ['[role="alert"]'], words: network },
]
