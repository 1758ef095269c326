import type { Locale } from '../state.ts'

/** The pages' texts, in the sites' own words if those are known. */
export interface Words {
  ask: string
  send: string
  stop: string
  run: string
  newChat: string
  history: string
  youSaid: string
  answerSaid: string
  copy: string
  copyCode: string
  good: string
  bad: string
  share: string
  retry: string
  microphone: string
  thinking: string
  /** With `{n}` seconds. */
  thoughtFor: string
  showThinking: string
  skip: string
  stopped: string
  logIn: string
  signUp: string
  welcome: string
  expired: string
  refused: string
  rateLimited: string
  network: string
  settings: string
  temperature: string
  model: string
  you: string
}

const en: Words = {
  ask: 'Ask anything',
  send: 'Send prompt',
  stop: 'Stop streaming',
  run: 'Run',
  newChat: 'New chat',
  history: 'Chats',
  youSaid: 'You said:',
  answerSaid: 'ChatGPT said:',
  copy: 'Copy',
  copyCode: 'Copy code',
  good: 'Good response',
  bad: 'Bad response',
  share: 'Share',
  retry: 'Retry',
  microphone: 'Microphone',
  thinking: 'Thinking',
  thoughtFor: 'Thought for {n} seconds',
  showThinking: 'Show thinking',
  skip: 'Skip thinking',
  stopped: 'You stopped this response',
  logIn: 'Log in',
  signUp: 'Sign up for free',
  welcome: 'Welcome back',
  refused: 'Incorrect email address or password.',
  expired: 'Your session has expired. Please log in again to continue using the app.',
  rateLimited: 'You’ve reached the current usage limit. Please try again later.',
  network: 'A network error occurred. Please check your connection and try again.',
  settings: 'Run settings',
  temperature: 'Temperature',
  model: 'Model',
  you: 'You',
}

const ja: Words = {
  ask: '質問してみましょう',
  send: 'プロンプトを送信する',
  stop: 'ストリーミングの停止',
  run: '実行',
  newChat: '新しいチャット',
  history: 'チャット',
  youSaid: 'あなた:',
  answerSaid: 'ChatGPT:',
  copy: 'コピーする',
  copyCode: 'コードをコピーする',
  good: '良い回答です',
  bad: '良くない回答です',
  share: '共有する',
  retry: '再試行する',
  microphone: 'マイク',
  thinking: '思考中',
  thoughtFor: '思考時間: {n} 秒',
  showThinking: '思考プロセスを表示',
  skip: '今すぐ回答',
  stopped: '回答を停止しました',
  logIn: 'ログイン',
  signUp: '無料でサインアップ',
  welcome: 'お帰りなさい',
  refused: 'パスワードが正しくありません。',
  expired: 'セッションの有効期限が切れました。アプリを引き続き使用するには、もう一度ログインしてください。',
  rateLimited: '利用制限に達しました。しばらくしてからもう一度お試しください。',
  network: 'ネットワークエラーが発生しました。接続を確認して、もう一度お試しください。',
  settings: '実行設定',
  temperature: '温度',
  model: 'モデル',
  you: 'あなた',
}

const de: Words = {
  ask: 'Stelle irgendeine Frage',
  send: 'Prompt senden',
  stop: 'Streaming stoppen',
  run: 'Ausführen',
  newChat: 'Neuer Chat',
  history: 'Chats',
  youSaid: 'Du hast gesagt:',
  answerSaid: 'ChatGPT hat gesagt:',
  copy: 'Kopieren',
  copyCode: 'Code kopieren',
  good: 'Gute Antwort',
  bad: 'Schlechte Antwort',
  share: 'Teilen',
  retry: 'Erneut versuchen',
  microphone: 'Mikrofon',
  thinking: 'Nachdenken',
  thoughtFor: '{n} Sekunden lang nachgedacht',
  showThinking: 'Gedankengang anzeigen',
  skip: 'Nachdenken überspringen',
  stopped: 'Du hast diese Antwort angehalten',
  logIn: 'Anmelden',
  signUp: 'Kostenlos registrieren',
  welcome: 'Willkommen zurück',
  refused: 'Falsches Passwort.',
  expired: 'Deine Sitzung ist abgelaufen. Bitte melde dich erneut an, um die App weiter zu nutzen.',
  rateLimited: 'Du hast das aktuelle Nutzungslimit erreicht. Bitte versuche es später erneut.',
  network: 'Ein Netzwerkfehler ist aufgetreten. Bitte prüfe deine Verbindung und versuche es erneut.',
  settings: 'Ausführungseinstellungen',
  temperature: 'Temperatur',
  model: 'Modell',
  you: 'Du',
}

const fr: Words = {
  ask: 'Poser une question',
  send: 'Envoyer l’invite',
  stop: 'Arrêter la diffusion',
  run: 'Exécuter',
  newChat: 'Nouveau chat',
  history: 'Chats',
  youSaid: 'Vous avez dit :',
  answerSaid: 'ChatGPT a dit :',
  copy: 'Copier',
  copyCode: 'Copier le code',
  good: 'Bonne réponse',
  bad: 'Mauvaise réponse',
  share: 'Partager',
  retry: 'Réessayer',
  microphone: 'Micro',
  thinking: 'Réflexion',
  thoughtFor: 'Réflexion durant {n} secondes',
  showThinking: 'Afficher le raisonnement',
  skip: 'Passer la réflexion',
  stopped: 'Vous avez arrêté cette réponse',
  logIn: 'Se connecter',
  signUp: 'S’inscrire gratuitement',
  welcome: 'Bienvenue',
  refused: 'Mot de passe incorrect.',
  expired: 'Votre session a expiré. Veuillez vous reconnecter pour continuer à utiliser l’application.',
  rateLimited: 'Vous avez atteint la limite d’utilisation. Veuillez réessayer plus tard.',
  network: 'Une erreur réseau s’est produite. Veuillez vérifier votre connexion et réessayer.',
  settings: 'Paramètres d’exécution',
  temperature: 'Température',
  model: 'Modèle',
  you: 'Vous',
}

const es: Words = {
  ask: 'Pregunta lo que quieras',
  send: 'Enviar indicación',
  stop: 'Detener la transmisión',
  run: 'Ejecutar',
  newChat: 'Nuevo chat',
  history: 'Chats',
  youSaid: 'Tú dijiste:',
  answerSaid: 'ChatGPT dijo:',
  copy: 'Copiar',
  copyCode: 'Copiar código',
  good: 'Buena respuesta',
  bad: 'Mala respuesta',
  share: 'Compartir',
  retry: 'Reintentar',
  microphone: 'Micrófono',
  thinking: 'Pensando',
  thoughtFor: 'Pensó durante {n} segundos',
  showThinking: 'Mostrar razonamiento',
  skip: 'Omitir razonamiento',
  stopped: 'Detuviste esta respuesta',
  logIn: 'Iniciar sesión',
  signUp: 'Suscríbete gratis',
  welcome: 'Te damos la bienvenida',
  refused: 'Contraseña incorrecta.',
  expired: 'Tu sesión ha caducado. Vuelve a iniciar sesión para seguir usando la aplicación.',
  rateLimited: 'Has alcanzado el límite de uso. Inténtalo de nuevo más tarde.',
  network: 'Se produjo un error de red. Comprueba tu conexión e inténtalo de nuevo.',
  settings: 'Configuración de ejecución',
  temperature: 'Temperatura',
  model: 'Modelo',
  you: 'Tú',
}

const zh: Words = {
  ask: '询问任何问题',
  send: '发送提示',
  stop: '停止流式传输',
  run: '运行',
  newChat: '新聊天',
  history: '聊天',
  youSaid: '你说：',
  answerSaid: 'ChatGPT 说：',
  copy: '复制',
  copyCode: '复制代码',
  good: '最佳回复',
  bad: '错误回复',
  share: '共享',
  retry: '重试',
  microphone: '麦克风',
  thinking: '正在思考',
  thoughtFor: '已思考 {n} 秒',
  showThinking: '显示思路',
  skip: '跳过思考',
  stopped: '你已停止此回答',
  logIn: '登录',
  signUp: '免费注册',
  welcome: '欢迎回来',
  refused: '密码错误。',
  expired: '你的会话已过期。请重新登录以继续使用该应用。',
  rateLimited: '你已达到使用上限。请稍后再试。',
  network: '发生网络错误。请检查你的连接，然后重试。',
  settings: '运行设置',
  temperature: '温度',
  model: '模型',
  you: '你',
}

export const words: Record<Locale, Words> = { en, ja, de, fr, es, zh }

/** Gemini's and AI Studio's own words, if they differ. */
export const gemini: Record<Locale, Partial<Words>> = {
  en: {
    ask: 'Ask Gemini',
    send: 'Send message',
    stop: 'Stop response',
    skip: 'Answer now',
    logIn: 'Sign in',
    answerSaid: 'Gemini said',
  },
  ja: { ask: 'Gemini に相談', send: 'プロンプトを送信', stop: '回答を停止', answerSaid: 'Gemini の回答' },
  de: {
    ask: 'Gemini fragen',
    send: 'Nachricht senden',
    stop: 'Antwort stoppen',
    skip: 'Jetzt antworten',
    answerSaid: 'Gemini hat gesagt',
  },
  fr: {
    ask: 'Demander à Gemini',
    send: 'Envoyer un message',
    stop: 'Arrêter la réponse',
    skip: 'Répondre maintenant',
    answerSaid: 'Gemini a dit',
  },
  es: {
    ask: 'Pregunta a Gemini',
    send: 'Enviar mensaje',
    stop: 'Detener respuesta',
    skip: 'Responder ahora',
    answerSaid: 'Gemini dijo',
  },
  zh: { ask: '问问 Gemini', send: '发送消息', stop: '停止回答', skip: '立即回答', answerSaid: 'Gemini 说' },
}

export const aistudio: Record<Locale, Partial<Words>> = {
  en: { ask: 'Start typing a prompt', stop: 'Stop', skip: 'Answer now', logIn: 'Sign in', good: 'Good response' },
  ja: { ask: 'プロンプトを入力してください', stop: '停止' },
  de: { ask: 'Gib einen Prompt ein', stop: 'Beenden', skip: 'Jetzt antworten' },
  fr: { ask: 'Commencez à saisir un prompt', stop: 'Arrêter', skip: 'Répondre maintenant' },
  es: { ask: 'Empieza a escribir una petición', stop: 'Detener', skip: 'Responder ahora' },
  zh: { ask: '开始输入提示', stop: '停止', skip: '立即回答' },
}

/** The other sites' names of their buttons, in English. In other languages their words are those of ChatGPT. */
export const named: Record<
  'claude' | 'perplexity' | 'grok' | 'deepseek' | 'mistral' | 'copilot',
  Partial<Record<Locale, Partial<Words>>>
> = {
  claude: { en: { ask: 'Write your prompt to Claude', send: 'Send message', stop: 'Stop response' } },
  perplexity: { en: { ask: 'Ask anything', send: 'Submit', stop: 'Stop generating response' } },
  grok: { en: { ask: 'Ask Grok anything', send: 'Submit', stop: 'Stop model response', logIn: 'Sign in' } },
  deepseek: { en: { ask: 'Message DeepSeek', send: '', stop: '' } },
  mistral: { en: { ask: 'Ask Le Chat', send: 'Send question', stop: 'Stop generation' } },
  copilot: { en: { ask: 'Message Copilot', send: 'Submit message', stop: 'Interrupt message' } },
}
