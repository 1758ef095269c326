import settings from '../../../web/panel/locales/ar.ts'
import type { Message } from '../../../web/panel/words.ts'
import type { en } from '../messages.ts'

/** Arabic. */
const ar: Record<keyof typeof en, Message> = {
  app: 'Portolan', places: 'صفحات Portolan', place_home: 'الرئيسية', place_chats: 'المحادثات', place_servers: 'الخوادم', place_activity: 'النشاط',
  waking: 'يجري إيقاظ الإضافة…', away: 'لا تستجيب خلفية الإضافة؛ تجري المحاولة من جديد. قد يكون ما تراه قديمًا.', code: 'الرمز: {code}', saved: 'حُفظ.',
  error_background_gone: 'أُعيد تشغيل خلفية الإضافة قبل أن تجيب. حاول مرة أخرى.', error_permission_impossible: 'لا يستطيع هذا المتصفح طلب هذا الإذن هنا.',
  copy_command: 'نسخ: {command}',

  stop_all: 'إيقاف كل شيء', stop_means: 'ينهي كل العمليات والنداءات والاتصال بالجسر، إلى أن تتابع.', stopped_means: 'كل شيء متوقف: لا شيء يُقاد ولا يُجاب ولا يتصل.', go: 'متابعة',

  bridge: 'الجسر', bridge_is: 'الجسر: {status}', link_unpaired: 'غير مقترن', link_connecting: 'يتصل…', link_connected: 'متصل', link_waiting: 'ينتظر', link_waiting_for: 'ينتظر · يعيد المحاولة خلال {time}', link_refused: 'مرفوض', link_stopped: 'متوقف',
  link_since: 'اتصل {ago}', link_ephemeral: 'لهذا التشغيل من الجسر فقط', tools_offered: { one: 'أداة واحدة معروضة', two: 'أداتان معروضتان', few: '{n} أدوات معروضة', other: '{n} أداة معروضة' }, no_tools_yet: 'لا أدوات معروضة بعد. شغّل محادثة أو أضف خادمًا:',
  try_now: 'حاول الآن', unpair: 'إلغاء الاقتران…', unpair_question: 'إلغاء الاقتران بهذا الجسر؟ تفقد برامج سطح المكتب أدوات هذا المتصفح فورًا حتى تقترن من جديد.', unpair_yes: 'إلغاء الاقتران',
  advice_not_paired: 'لا يعرف الجسر هذا المتصفح أو أبطل اقترانه. اقترن من جديد.', advice_not_pairing: 'لا اقتران مفتوح في الطرفية. شغّل ‎“portolan bridge pair”‎ ثم اختر «اقتران» خلال ثلاث دقائق.', advice_replaced: 'لنسخ الملف الواحد هوية واحدة. ألغِ اقتران إحداها واقترن بها من جديد.', advice_disconnected: 'تُعاد المحاولة تلقائيًا.', advice_bad_address: 'العنوان عنوان هذا الحاسوب مع منفذ.', advice_bad_proof: 'الأرقام أو المفتاح لا تتطابق. شغّل ‎“portolan bridge pair”‎ مرة أخرى واكتب الأرقام بدقة. إن تكرر ذلك فقد يقف برنامج آخر بين هذا المتصفح والجسر.',
  advice_bad_message: 'ما يجيب هناك ليس جسر Portolan أو هو من إصدار آخر. حدّث الاثنين وتحقق من العنوان.', advice_declined: 'شغّل ‎“portolan bridge pair”‎ مرة أخرى واكتب الأرقام بدقة وأجب ‎“y”‎ هناك.', advice_too_many: 'محاولات أكثر مما يُقبل. انتظر دقيقة ثم حاول.', advice_wrong_target: 'يجيب برنامج آخر على هذا العنوان ويمرّر ما يُرسل. لا تقترن؛ تحقق من العنوان ومما يستمع على هذا المنفذ.',
  advice_no_bridge: 'إن كان الجسر يعمل فقد يكون عنوانه غير هذا أو يكون منفذه لدى برنامج آخر: قارن بالعنوان الذي تعرضه الطرفية.',

  pair_title: 'الاقتران بجسر هذا الحاسوب', pair_why: 'يتيح الجسر لبرامج MCP على هذا الحاسوب استخدام أدوات هذا المتصفح. لا يغادر شيء الحاسوب.',
  pair_run: 'شغّل هذا في طرفية ثم اختر «اقتران».', pair_get: 'لم يُثبَّت بعد؟', pair: 'اقتران', pair_again: 'حاول مرة أخرى', pair_looking: 'يجري البحث عن الجسر على {address}…', pair_digits: 'اكتب الأرقام الستة التي تعرضها الطرفية.', pair_check: 'تحقق من الأرقام', pair_six: 'الأرقام الستة كلها من فضلك.',
  pair_yes: 'قل نعم في الطرفية.', pair_yes_now: 'الأرقام صحيحة. قل نعم في الطرفية الآن.', pair_yes_only: 'أجب ‎“y”‎ هناك: لا يطلب ذلك منك إلا هذا اللوح.', paired: 'تم الاقتران. أدوات هذا المتصفح متاحة لبرامج MCP لديك.',
  bridge_address: 'عنوان الجسر', token: 'رمز جسر مؤقت', token_help: 'يعرضه في الطرفية جسر يعمل مع ‎--ephemeral‎. يصلح لذلك التشغيل فقط ولا يُعرض هنا ثانية.', token_use: 'استخدام الرمز',

  asks_waiting: { one: 'سؤال واحد ينتظرك', two: 'سؤالان ينتظرانك', few: '{n} أسئلة تنتظرك', other: '{n} سؤالًا ينتظرك' }, asks_said: 'يطلب {client} استخدام {tool}.', asks_wants: 'يريد استخدام', asks_claimed: 'الاسم هو ما يسمّي البرنامج به نفسه.', asks_left: 'يُرفض بعد {time} إن لم تجب.',
  answer_once: 'السماح مرة', answer_always: 'دائمًا لهذا البرنامج', answer_deny: 'رفض', answer_never: 'أبدًا لهذا البرنامج',

  runs: 'يعمل الآن', run_for: 'منذ {time}', asked_by: 'طلبه', show_tab: 'عرض اللسان', resume: 'استئناف', hand_over: 'تسليم', paused_means: 'توقف لأنك كتبت أو نقرت في لسانه. استأنف عندما تنتهي.', handover_means: 'السؤال في حقل {chat}. أرسله هناك، وعندما يكتمل الجواب سلّمه.',
  run_phase_queued: 'ينتظر دوره', run_phase_paused: 'متوقف مؤقتًا', run_phase_opening: 'يفتح الصفحة', run_phase_input: 'يملأ الحقل', run_phase_sending: 'يرسل', run_phase_handover: 'دورك', run_phase_waiting: 'ينتظر الجواب', run_phase_thinking: 'يفكر', run_phase_answering: 'يجيب', run_phase_reading: 'يقرأ الجواب',

  chat_off: 'مغلق', chat_use: 'استخدام {chat}', chat_missing: 'الإذن مفقود', chat_missing_means: 'لم يعد المتصفح يسمح لـ Portolan بالوصول إلى {hosts}. لا يُسأل شيء هناك حتى يسمح.', chat_grant: 'منح الوصول', chat_refused: 'لم يُسمح للمتصفح بإعطاء Portolan الوصول إلى {hosts}. يبقى {chat} مغلقًا؛ شغّله لتُسأل من جديد.',
  chat_used: '{n} من {most} سؤالًا هذه الساعة', chat_waiting: '{n} في الانتظار', chat_open: 'فتح {chat}', chat_settings: 'الوضع والحد', mode: 'الوضع', mode_auto: 'تلقائي', mode_assist: 'بمساعدتك', mode_auto_means: 'يكتب Portolan السؤال ويرسله ويقرأ الجواب.', mode_assist_means: 'يملأ Portolan السؤال فقط. أنت ترسله وتسلّم الجواب بنقرة.', per_hour: 'أقصى عدد أسئلة في الساعة', per_hour_means: 'يُرفض ما زاد عليه، فلا يغرق أي برنامج حسابك.',
  terms_title: 'قبل تشغيل {chat}', terms_may: 'سيستخدم Portolan ‏{chat} في متصفحك وباسمك عندما يطلب برنامج على هذا الحاسوب ذلك. قد تمنع شروط {by} الاستخدام الآلي، وقد تقيّد {by} الحساب أو تغلقه بسببه.', terms_yours: 'الحساب حسابك والقرار قرارك. في الوضع «بمساعدتك» ترسل أنت. يمكنك الإغلاق في أي وقت. سيطلب المتصفح الآن الوصول إلى صفحاته.', terms_link: 'شروط {by}', terms_accept: 'أقبل، شغّل', terms_leave: 'اتركه مغلقًا',

  options: 'لكل المحادثات', option_reuseChats: 'متابعة آخر محادثة', option_reuseChats_means: 'البرنامج الذي لا يسمّي محادثة يتابع آخر محادثة له بدل محادثة جديدة.', option_focus: 'إحضار اللسان إلى الأمام', option_focus_means: 'وإلا تُقاد المحادثات في الخلفية.', option_aliases: 'أسماء أخرى للأدوات أيضًا', option_aliases_means: 'يعرض ask_chatgpt_web و ask_gemini_web و ask_chatgpt_gemini_web بجانب أسماء الأدوات نفسها.', option_pages: 'أدوات للألسنة والصفحات', option_pages_means: 'تستطيع البرامج سرد ألسنتك وقراءة الصفحات التي يصل إليها Portolan. يطلب المتصفح منك الإذن.', pages_refused: 'دون الإذن تبقى أدوات الألسنة والصفحات مغلقة.', option_history: 'حفظ الأسئلة والأجوبة', option_history_means: 'في ملف المتصفح هذا فقط.',
  history_days: 'النسيان بعد أيام', history_export: 'تصدير السجل', history_clear: 'مسح السجل…', history_question: 'مسح كل الأسئلة والأجوبة المحفوظة؟', history_yes: 'مسحها', history_cleared: 'السجل فارغ.',
  trusted: 'إدخال موثوق', trusted_means: 'يتيح لـ Portolan الكتابة كلوحة المفاتيح حيث لا تقبل الصفحة غيرها. يلزمه إذن التنقيح في المتصفح، وهو يقدر على قراءة كل صفحة وتغييرها؛ يعرض المتصفح شريطًا أثناء استخدامه.', trusted_on: 'يعمل', trusted_off: 'ليس في هذا البناء', trusted_build: 'لا تعطي المتصفحات هذا الإذن إلا عند التثبيت، فهذا البناء دونه.',

  publish: 'عرض هذه الأدوات على برامج سطح المكتب', publish_means: 'عبر الجسر، بالأسماء التي تراها هنا.', servers_opening: 'تُفتح الخوادم…', server_refused: 'دون الوصول إلى {host} يُحفظ {name} لكنه يبقى مغلقًا. شغّله لتُسأل من جديد.',

  clients: 'البرامج', clients_claimed: 'الأسماء هي ما تسمّي البرامج به نفسها.', clients_none: 'لم يتصل أحد بعد. دع برنامج MCP يشغّل', seen: 'شوهد {ago}', grants_none: 'لا قواعد خاصة', grants: { one: 'قاعدة خاصة واحدة', two: 'قاعدتان خاصتان', few: '{n} قواعد خاصة', other: '{n} قاعدة خاصة' }, grant: 'القاعدة', grant_of: 'قاعدة {tool}', grant_allow: 'سماح', grant_ask: 'سؤال', grant_deny: 'رفض', grant_default: 'كما تقول الأداة', grant_add: 'قاعدة لـ', grant_set: 'ضبط', grant_set_for: 'ضبط القاعدة لـ {name}',
  forget: 'نسيان…', forget_of: 'نسيان {name}…', forget_question: 'نسيان {name} وقواعده؟ إن اتصل ثانية سُئلت عنه من جديد.', forget_yes: 'نسيان',

  origins: 'صفحات الويب', origins_means: 'يجوز لصفحات هذه الأصول استخدام الجسر إن كان لديها رمزه أيضًا.', origin_add: 'أصل صفحة', origin_approve: 'موافقة', origin_remove: 'إزالة', origin_remove_of: 'إزالة {origin}', origin_question: 'إزالة {origin}؟ تُرفض صفحاته فورًا.', origin_empty: 'اكتب أصلًا مثل ‎https://app.example‎.', origin_no_origin: 'يبدأ الأصل بـ ‎https://‎ ويسمّي مضيفًا.', origin_scheme: 'لا تُقبل إلا صفحات https و http.', origin_more: 'الأصل هو المخطط والمضيف والمنفذ فقط. ستُقبل كل صفحات هذا الأصل: انظر إليه ثم وافق.',

  bookmarks: 'العلامات', bookmarks_on: 'عرض أدوات العلامات', bookmarks_means: 'تستطيع البرامج البحث والإضافة والنقل والتغيير؛ والإزالة تسألك أولًا. يطلب المتصفح منك الإذن.', bookmarks_refused: 'دون الإذن تبقى أدوات العلامات مغلقة.',

  profile: 'هذا المتصفح', profile_label: 'اسم ملف المتصفح', profile_means: 'ما تراه البرامج عند اقتران عدة متصفحات.', about: 'معلومات ومشكلات', version: 'الإصدار', install_id: 'معرّف التثبيت', open_options: 'فتح في لسان', debug_bundle: 'حفظ حزمة التشخيص', debug_means: 'الحالات والرموز الأخيرة دون أسئلة أو أجوبة أو أسرار.',

  log_show: 'عرض', log_all: 'كل شيء', log_running: 'جارٍ', log_ok: 'تم', log_error: 'فشل', log_denied: 'رُفض', log_cancelled: 'أُلغي', log_none: 'تظهر هنا النداءات والاتصالات والقرارات عند حدوثها.', log_none_such: 'لا شيء من هذا النوع.', log_question: 'مسح قائمة النشاط كلها؟', log_yes: 'مسحها',
  log_kind_call: 'نداء', log_kind_link: 'الجسر', log_kind_pairing: 'اقتران', log_kind_grant: 'قاعدة', log_kind_stop: 'إيقاف',
}

export default ar
export { settings }
